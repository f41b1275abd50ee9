import type { CommandProgram } from './read-invocation';
import { readInvocation, spelled } from './read-invocation';
import { parseVersionFlag } from './version-flag';

const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

/** Runs the command that the first words of the command line name, and sets the exit code of the process. */
export function runCommands(program: CommandProgram): void {
  run(program, process.argv.slice(2)).then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      process.stderr.write(`${program.name}: ${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = EXIT.failure;
    },
  );
}

async function run(program: CommandProgram, words: readonly string[]): Promise<number> {
  const version = parseVersionFlag(program.name, words);
  if (version.outcome === 'error') return refuse([version.error], program.name);
  if (version.outcome === 'line') return print(`${version.line}\n`);
  const invocation = readInvocation(program, version.argv);
  if (invocation.outcome === 'help') return print(invocation.text);
  if (invocation.outcome === 'errors') return refuse(invocation.errors, invocation.about);
  const { command, argv } = invocation;
  const outcome = await command.run(argv);
  if ('errors' in outcome) return refuse(outcome.errors, spelled(program, command.name));
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
