import type { FlagRow } from './flag-row';
import type { ForeignFlag } from './foreign-flag';
import { helpText } from './help';
import { parseFlags } from './parse-flags';

const ROWS = [
  { name: 'port', type: 'int', default: 1, group: 'G', help: 'The port.', deprecated: 'use --secure-port' },
] as const satisfies readonly FlagRow[];
const FOREIGN: readonly ForeignFlag[] = [
  { name: 'log-dir', taken: [''], reason: 'the log goes elsewhere' },
  { name: 'stderrthreshold', reason: 'the log goes elsewhere' },
  { name: 'logtostderr', isSwitch: true, taken: ['true'], reason: 'the log goes elsewhere' },
];

test('a flag without an effect is accepted with its value and a warning', () => {
  const parsed = parseFlags(
    ROWS,
    ['--stderrthreshold', '2', '--logtostderr', '--log_dir=', '--port=3'],
    FOREIGN,
  );
  expect(parsed).toMatchObject({
    values: { port: 3 },
    warnings: [
      '--stderrthreshold has no effect: the log goes elsewhere',
      '--logtostderr has no effect: the log goes elsewhere',
      '--log-dir has no effect: the log goes elsewhere',
      '--port is deprecated: use --secure-port',
    ],
  });
});

test('a value that would have to have an effect is refused, with the reason', () => {
  const parsed = parseFlags(
    ROWS,
    ['--log-dir=/var/log', '--logtostderr=false', '--stderrthreshold'],
    FOREIGN,
  );
  expect(parsed).toEqual({
    outcome: 'errors',
    errors: [
      '--log-dir=/var/log is not supported: the log goes elsewhere',
      '--logtostderr=false is not supported: the log goes elsewhere',
      '--stderrthreshold needs a value',
    ],
  });
});

test('the help names foreign flags, and marks what is deprecated', () => {
  const text = helpText(ROWS, { program: 'prog', summary: 'It serves.', foreign: FOREIGN });
  expect(text).toContain('The port. (default 1) (DEPRECATED: use --secure-port)');
  expect(text).toContain('--log-dir, --stderrthreshold, --logtostderr');
});
