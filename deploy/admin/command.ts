import type { FlagRow } from '../../shared/flags/flag-row';

/** What is wrong with the command line, or the lines to print and the process's exit code. */
export type CommandOutcome =
  { readonly errors: readonly string[] } | { readonly lines: readonly string[]; readonly code: number };

/** One command of the program. */
export interface Command {
  /** The words that name it. */
  readonly name: readonly string[];
  /** A sentence for help texts. */
  readonly summary: string;
  readonly flags: readonly FlagRow[];
  /** Runs it with the words after its name. Rejects when it could not be done; the message says why. */
  run(argv: readonly string[]): Promise<CommandOutcome>;
}
