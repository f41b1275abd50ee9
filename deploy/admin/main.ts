#!/usr/bin/env node
import { parseVersionFlag } from '../../shared/flags/version-flag';
import { COMMANDS } from './commands';
import { PROGRAM, readInvocation, spelled } from './read-invocation';

const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

/** Runs the command that the first words name. Resolves to the exit code. */
async function main(words: readonly string[]): Promise<number> {
  const version = parseVersionFlag(PROGRAM, words);
  if (version.outcome === 'error') return refuse([version.error], PROGRAM);
  if (version.outcome === 'line') return print(`${version.line}\n`);
  const invocation = readInvocation(COMMANDS, version.argv);
  if (invocation.outcome === 'help') return print(invocation.text);
  if (invocation.outcome === 'errors') return refuse(invocation.errors, invocation.about);
  const { command, argv } = invocation;
  const outcome = await command.run(argv);
  if ('errors' in outcome) return refuse(outcome.errors, spelled(command.name));
  for (const line of outcome.lines) process.stdout.write(`${line}\n`);
  return outcome.code;
}

function print(text: string): number {
  process.stdout.write(text);
  return EXIT.ok;
}

function refuse(errors: readonly string[], about: string): number {
  for (const error of errors) process.stderr.write(`${about}: ${error}\n`);
  process.stderr.write(`Run ${about} --help for help.\n`);
  return EXIT.usage;
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
