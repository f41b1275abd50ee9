import type { Command } from '../../shared/flags/command';
import { ADMIN } from './commands';
import type { Invocation } from '../../shared/flags/read-invocation';
import { readInvocation } from '../../shared/flags/read-invocation';

const COMMANDS = ADMIN.commands;
const HELP_WORDS = ['--help', '-h'] as const;
/** All words that begin the name of a command and are none themselves; none at all names the program. */
const GROUPS: readonly (readonly string[])[] = [
  ...new Map(
    COMMANDS.flatMap(({ name }) => name.map((_word, length) => name.slice(0, length)))
      .filter((words) => !COMMANDS.some(({ name }) => name.join(' ') === words.join(' ')))
      .map((words) => [words.join(' '), words]),
  ).values(),
];

const read = (...argv: readonly string[]): Invocation => readInvocation(ADMIN, argv);
const begins = (words: readonly string[], { name }: Command): boolean =>
  words.every((word, index) => name[index] === word);

function helpOf(argv: readonly string[]): string {
  const invocation = read(...argv);
  if (invocation.outcome !== 'help') throw new Error(`No help: ${JSON.stringify(invocation)}`);
  return invocation.text;
}

test('groups are the program, and each word that several commands share', () => {
  expect(GROUPS).toEqual([[], ['certs'], ['bindings'], ['cluster-info'], ['etcd']]);
});

describe.each(GROUPS.map((words) => ({ words })))('the group $words', ({ words }) => {
  test.each(HELP_WORDS)('lists its commands and no others, asked by %s', (help) => {
    const text = helpOf([...words, help]);
    expect(text).toContain(`Usage:\n  ${['orch-admin', ...words].join(' ')} <command> [flags]\n`);
    const listed = [...text.matchAll(/^ {2}(\S+(?: \S+)*) {2,}/gmu)].map(([, name = '']) => name);
    const members = COMMANDS.filter((command) => begins(words, command));
    expect(listed.toSorted()).toEqual(members.map(({ name }) => name.join(' ')).toSorted());
    expect(helpOf([help, ...words])).toBe(text);
  });

  test('cannot be run, and takes no flags', () => {
    const about = ['orch-admin', ...words].join(' ');
    expect(read(...words)).toEqual({ outcome: 'errors', errors: ['no command given'], about });
    expect(read(...words, '--plan=x')).toEqual({
      outcome: 'errors',
      errors: ['unknown flag: --plan=x'],
      about,
    });
  });
});

describe.each(COMMANDS.map((command) => ({ words: command.name, command })))(
  'the command $words',
  ({ words, command }) => {
    test.each(HELP_WORDS)('tells all its flags, asked by %s wherever it stands', (help) => {
      const text = helpOf([...words, help]);
      expect(text).toContain(`Usage:\n  ${['orch-admin', ...words].join(' ')} [flags]\n`);
      for (const { name } of command.flags) expect(text).toMatch(new RegExp(`^ {2}.{4}--${name}\\b`, 'mu'));
      const longer = COMMANDS.filter((other) => other !== command && begins(words, other));
      for (const { name } of longer) expect(text).toContain(`  ${name.join(' ')}  `);
      expect(helpOf([help, ...words])).toBe(text);
      expect(helpOf([...words, '--of-no-row', help])).toBe(text);
    });

    test('is given the words after its name', () => {
      expect(read(...words, '--a', 'b')).toEqual({ outcome: 'command', command, argv: ['--a', 'b'] });
    });
  },
);

test.each([
  [['stauts'], 'unknown command: stauts', 'orch-admin'],
  [['etcd', 'stauts', '-h'], 'unknown command: etcd stauts; did you mean etcd status?', 'orch-admin etcd'],
  [['certs', 'chek'], 'unknown command: certs chek; did you mean certs check?', 'orch-admin certs'],
])('%j is refused', (argv, error, about) => {
  expect(read(...argv)).toEqual({ outcome: 'errors', errors: [error], about });
});
