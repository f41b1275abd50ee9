#!/usr/bin/env node
import { createRequire } from 'node:module';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { formatApiLevel } from '../shared/api-level';
import { readBuild } from '../shared/build';
import { parseVersionFlag } from '../shared/flags/version-flag';
import { writeHelp } from '../shared/flags/help';
import { createProcessLog } from '../shared/log/pino-log';
import type { ServerOptions } from './compose/options/server-options';
import { completeOptions } from './compose/options/complete-options';
import { FLAG_ROWS } from './compose/options/flag-rows';
import { FOREIGN_FLAGS } from './compose/options/foreign-flags';
import { parseServerFlags } from './compose/options/parse-server-flags';
import { ApiLevelMismatch } from './kubernetes/bootstrap/store-records';
import { runServer } from './run';

const PROGRAM = 'orch-apiserver';
const SUMMARY =
  'The orch API server: validates and stores the objects of a cluster and tells everyone who watches. Replicas are stateless.';
const USAGE_ERROR = 2;
/**
 * What is kept lies outside of the heap, which is little beside what passes through it. By itself the runtime lets the heap grow to four
 * times what is live before it looks for garbage; with this, to twice that. Less would make it look so often that watch events are late.
 * It is asked for at every collection, so it may come late.
 */
const SMALL_HEAP = '--heap-growing-percent=100';

/** Reads the command line, then serves until SIGTERM or SIGINT. The process's exit code is what `main` resolves to. */
async function main(): Promise<number | undefined> {
  setFlagsFromString(SMALL_HEAP);
  const version = parseVersionFlag(PROGRAM, process.argv.slice(2));
  if (version.outcome === 'error') return refuse([version.error]);
  if (version.outcome === 'line') {
    process.stdout.write(`${version.line}\n`);
    return 0;
  }
  const parsed = parseServerFlags(version.argv);
  if (parsed.outcome === 'help') {
    writeHelp(process.stdout, FLAG_ROWS, { program: PROGRAM, summary: SUMMARY, foreign: FOREIGN_FLAGS });
    return 0;
  }
  if (parsed.outcome === 'errors') return refuse(parsed.errors);
  const completed = completeOptions(parsed.values);
  if (!completed.ok) return refuse(completed.errors);
  return serve(completed.options, [...parsed.warnings, ...completed.warnings]);
}

function refuse(errors: readonly string[]): number {
  const lines = errors.map((error) => `${PROGRAM}: ${error}\n`);
  process.stderr.write(`${lines.join('')}Run ${PROGRAM} --help for all flags.\n`);
  return USAGE_ERROR;
}

async function serve(options: ServerOptions, warnings: readonly string[]): Promise<number | undefined> {
  const { log, lastError } = createProcessLog(options.logging);
  for (const warning of warnings) log.warn({}, warning);
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    log.info({ signal }, 'stopping');
    stop.abort();
  };
  process.once('SIGTERM', onSignal);
  process.once('SIGINT', onSignal);
  process.on('unhandledRejection', (error) => {
    log.error({ error }, 'unhandled promise rejection');
  });
  try {
    await runServer({ options, log, logFailure: lastError, build: readBuild() }, stop.signal);
    return 0;
  } catch (error) {
    if (stop.signal.aborted) return 0;
    if (error instanceof ApiLevelMismatch) {
      process.removeListener('SIGTERM', onSignal).removeListener('SIGINT', onSignal);
      return startAgain(error);
    }
    log.error({}, `cannot serve: ${error instanceof Error ? error.message : String(error)}`);
    log.debug({ error }, 'cause of the failed start');
    return 1;
  }
}

/**
 * Starts this program again at the level of the store. The tables are read when their modules load, so the modules of the program load
 * again; those of packages stay.
 */
function startAgain({ level }: ApiLevelMismatch): undefined {
  process.env['ORCH_API_LEVEL'] = formatApiLevel(level);
  for (const file of Object.keys(require.cache)) {
    if (!file.includes(`${path.sep}node_modules${path.sep}`)) Reflect.deleteProperty(require.cache, file);
  }
  createRequire(__filename)(__filename);
  return undefined;
}

main().then(
  (code) => {
    // The program that started again sets it.
    if (code === undefined) return;
    process.exitCode = code;
    // Whatever a library left open must not keep a stopped server alive.
    setTimeout(() => process.exit(code), EXIT_GRACE_MS).unref();
  },
  (error: unknown) => {
    process.stderr.write(
      `${PROGRAM}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(1);
  },
);

const EXIT_GRACE_MS = 1_000;
