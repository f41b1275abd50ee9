import { readFileSync } from 'node:fs';
import type { FlagRow, FlagValues } from './flag-row';
import { parseFlags } from './parse-flags';

/** What is wrong with the command line, or the lines to print and the process's exit code. */
export type CommandOutcome =
  { readonly errors: readonly string[] } | { readonly lines: readonly string[]; readonly code: number };

/** One command of the program. */
export interface Command {
  /** The words that name it. */
  readonly name: readonly string[];
  /** The heading under which `--help` shows it. */
  readonly group: string;
  /** A sentence for help texts. */
  readonly summary: string;
  readonly flags: readonly FlagRow[];
  /** Runs it with the words after its name. Rejects when it could not be done; the message says why. */
  run(argv: readonly string[]): Promise<CommandOutcome>;
}

/** A command that is given its flags, once they could be read. */
export function parsedCommand<const Rows extends readonly FlagRow[]>(
  command: Omit<Command, 'flags' | 'run'> & {
    readonly flags: Rows;
    readonly run: (values: FlagValues<Rows>) => Promise<CommandOutcome>;
  },
): Command {
  const { flags, run } = command;
  return {
    ...command,
    run: async (argv) => {
      const parsed = parseFlags(flags, argv);
      if (parsed.outcome === 'help') return { lines: [], code: 0 };
      return parsed.outcome === 'errors' ? { errors: parsed.errors } : run(parsed.values);
    },
  };
}

/** Reads the file that a flag names. The error names both. */
export function readFlagFile(flag: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`--${flag}: cannot read ${file}: ${(error as Error).message}`, { cause: error });
  }
}
