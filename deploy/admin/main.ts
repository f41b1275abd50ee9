#!/usr/bin/env node
import { readVersionWish } from '../../shared/flags/version-flag';
import type { FlagRow } from '../../shared/flags/flag-row';
import { helpText } from '../../shared/flags/help';
import { suggestion } from '../../shared/flags/suggestion';
import { CERTS_COMMANDS } from './certs/commands';
import { CLUSTER_INFO_COMMAND } from './cluster-info';
import type { Command } from './command';
import { BACKUP_COMMANDS } from './backup/commands';
import { CHECK_COMMAND } from './check/command';
import { ETCD_COMMANDS } from './etcd/commands';
import { SMOKE_COMMAND } from './smoke';

const PROGRAM = 'orch-admin';
const SUMMARY = 'Looks after what a control plane stands on.';
const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

/** One that is named by more words comes before one that is named by fewer of them. */
const COMMANDS: readonly Command[] = [
  ...BACKUP_COMMANDS,
  ...CERTS_COMMANDS,
  CHECK_COMMAND,
  CLUSTER_INFO_COMMAND,
  SMOKE_COMMAND,
  ...ETCD_COMMANDS,
];

/** Runs the command that the first words name. Resolves to the exit code. */
async function main(words: readonly string[]): Promise<number> {
  const version = readVersionWish(PROGRAM, words);
  if (version.outcome === 'error') return refuse([version.error]);
  if (version.outcome === 'line') {
    process.stdout.write(`${version.line}\n`);
    return EXIT.ok;
  }
  const { argv } = version;
  const command = COMMANDS.find(({ name }) => name.every((word, index) => argv[index] === word));
  if (command === undefined) return withoutCommand(argv);
  const rest = argv.slice(command.name.length);
  if (rest.some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(helpOf(command));
    return EXIT.ok;
  }
  const outcome = await command.run(rest);
  if ('errors' in outcome) return refuse(outcome.errors, spelled(command));
  for (const line of outcome.lines) process.stdout.write(`${line}\n`);
  return outcome.code;
}

function withoutCommand(argv: readonly string[]): number {
  const words = argv.filter((word) => !word.startsWith('-'));
  if (words.length === 0 && argv.length > 0) {
    process.stdout.write(`${overview()}\n`);
    return EXIT.ok;
  }
  const names = COMMANDS.map((each) => each.name.join(' '));
  const given = words.join(' ');
  return refuse([given === '' ? 'no command given' : `unknown command: ${given}${suggestion(given, names)}`]);
}

function refuse(errors: readonly string[], command = PROGRAM): number {
  for (const error of errors) process.stderr.write(`${command}: ${error}\n`);
  process.stderr.write(`Run ${command} --help for help.\n`);
  return EXIT.usage;
}

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.join(' ').length));
  const sections = [...new Set(COMMANDS.map(({ group }) => group))].map((group) => {
    const commands = COMMANDS.filter((each) => each.group === group).map(
      ({ name, summary }) => `  ${name.join(' ').padEnd(width)}  ${summary}`,
    );
    return `${group} commands:\n${commands.join('\n')}`;
  });
  return `${SUMMARY}\n\nUsage:\n  ${PROGRAM} <command> [flags]\n\n${sections.join('\n\n')}`;
}

function helpOf(command: Command): string {
  const rows: readonly FlagRow[] = command.flags;
  return helpText(rows, { program: spelled(command), summary: command.summary });
}

function spelled({ name }: Command): string {
  return [PROGRAM, ...name].join(' ');
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${PROGRAM}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = EXIT.failure;
  },
);
