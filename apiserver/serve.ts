import type { ApiLevel } from '../shared/api-level';
import { readBuild } from '../shared/build';
import { createProcessLog } from '../shared/log/pino-log';
import type { ServerFlags } from './compose/options/complete-options';
import { completeOptions } from './compose/options/complete-options';
import { ApiLevelMismatch } from './kubernetes/bootstrap/store-records';
import { runServer } from './run';

/** How a program ends: with an exit code, with errors of its command line, or because the store has another API level. */
export type ServeEnd =
  { readonly code: number } | { readonly errors: readonly string[] } | { readonly level: ApiLevel };

/** Serves until SIGTERM or SIGINT. */
export async function serve(flags: ServerFlags, flagWarnings: readonly string[]): Promise<ServeEnd> {
  const completed = completeOptions(flags);
  if (!completed.ok) return completed;
  const { options, warnings } = completed;
  const { log, lastError } = createProcessLog(options.logging);
  for (const warning of [...flagWarnings, ...warnings]) log.warn({}, warning);
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    log.info({ signal }, 'stopping');
    stop.abort();
  };
  process.once('SIGTERM', onSignal);
  process.once('SIGINT', onSignal);
  const onRejection = (error: unknown): void => {
    log.error({ error }, 'unhandled promise rejection');
  };
  process.on('unhandledRejection', onRejection);
  try {
    await runServer({ options, log, logFailure: lastError, build: readBuild() }, stop.signal);
    return { code: 0 };
  } catch (error) {
    if (stop.signal.aborted) return { code: 0 };
    if (error instanceof ApiLevelMismatch) {
      process.removeListener('SIGTERM', onSignal).removeListener('SIGINT', onSignal);
      process.removeListener('unhandledRejection', onRejection);
      return { level: error.level };
    }
    log.error({}, `cannot serve: ${error instanceof Error ? error.message : String(error)}`);
    log.debug({ error }, 'cause of the failed start');
    return { code: 1 };
  }
}
