import type { FlagRow, FlagValues } from '../../shared/flags/flag-row';
import type { ForeignFlag } from '../../shared/flags/foreign-flag';
import { writeHelp } from '../../shared/flags/help';
import { parseFlags } from '../../shared/flags/parse-flags';
import { parseVersionFlag } from '../../shared/flags/version-flag';
import { KubeconfigError } from '../../shared/client/kubeconfig';
import type { Log } from '../../shared/log/log';
import { createProcessLog } from '../../shared/log/pino-log';
import { ListenerError } from './serving/listener';
import { ServingCertificateError } from './serving/serving-certificate';

export const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

/** The values of the flags of a program, as its parts get them. */
export interface Started<Values> {
  readonly values: Values;
  /** The names of the flags on the command line. */
  readonly given: ReadonlySet<string>;
  readonly log: Log;
  /** Aborts at the first SIGTERM or SIGINT; the second one ends the process at once. */
  readonly signal: AbortSignal;
}

interface LogValues {
  readonly loggingFormat: 'text' | 'json';
  readonly v: number;
}

export interface Program<Rows extends readonly FlagRow[], Values extends LogValues> {
  /** As one types it. */
  readonly name: string;
  /** One or two sentences for `--help`. */
  readonly summary: string;
  readonly flags: Rows;
  readonly foreign?: readonly ForeignFlag[];
  /** Errors of unusable files and addresses, in addition to those of every program; their messages are complete. */
  readonly refusals?: readonly (abstract new (...args: never[]) => Error)[];
  /** Returns what is wrong with the values, one sentence each, and sentences to log at the start. */
  readonly check: (values: Values) => {
    readonly problems: readonly string[];
    readonly warnings?: readonly string[];
  };
  /** Resolves to the exit code. */
  readonly run: (started: Started<Values>) => Promise<number>;
}

const REFUSALS = [KubeconfigError, ServingCertificateError, ListenerError] as const;

/** Runs a program with the command line of this process, and ends the process with its exit code. */
export function runProgram<const Rows extends readonly FlagRow[]>(
  program: Program<Rows, FlagValues<Rows> & LogValues>,
): void {
  runWith(program, process.argv.slice(2)).then(
    (code) => {
      // Closing sockets must not hold the process; the log is synchronous.
      process.exit(code);
    },
    (error: unknown) => {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      process.stderr.write(`${program.name}: ${text}\n`);
      process.exit(EXIT.failure);
    },
  );
}

async function runWith<const Rows extends readonly FlagRow[]>(
  program: Program<Rows, FlagValues<Rows> & LogValues>,
  words: readonly string[],
): Promise<number> {
  const { name, summary, flags, foreign = [] } = program;
  const version = parseVersionFlag(name, words);
  if (version.outcome === 'error') return refuse(name, [version.error]);
  if (version.outcome === 'line') {
    process.stdout.write(`${version.line}\n`);
    return EXIT.ok;
  }
  const parsed = parseFlags(flags, version.argv, foreign);
  if (parsed.outcome === 'help') {
    writeHelp(process.stdout, flags, { program: name, summary, foreign });
    return EXIT.ok;
  }
  if (parsed.outcome === 'errors') return refuse(name, parsed.errors);
  const values = parsed.values as FlagValues<Rows> & LogValues;
  const { problems, warnings = [] } = program.check(values);
  if (problems.length > 0) return refuse(name, problems);
  const { log } = createProcessLog({ format: values.loggingFormat, verbosity: values.v });
  for (const warning of [...parsed.warnings, ...warnings]) log.warn({}, warning);
  try {
    return await program.run({ values, given: parsed.given, log, signal: stopSignal(log) });
  } catch (error) {
    const refusals = [...REFUSALS, ...(program.refusals ?? [])];
    if (!refusals.some((refusal) => error instanceof refusal)) throw error;
    return refuse(name, [(error as Error).message]);
  }
}

function stopSignal(log: Log): AbortSignal {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (stop.signal.aborted) process.exit(EXIT.failure);
    log.info({ signal: name }, 'stopping');
    stop.abort(new Error(`received ${name}`));
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  return stop.signal;
}

function refuse(name: string, problems: readonly string[]): number {
  const lines = problems.map((problem) => `${name}: ${problem}\n`);
  process.stderr.write(`${lines.join('')}Run ${name} --help for all flags.\n`);
  return EXIT.usage;
}
