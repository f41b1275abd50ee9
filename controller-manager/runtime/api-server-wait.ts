import { sleep } from '../../shared/concurrency/abort';
import type { Client } from '../../shared/client/client';
import type { Log } from '../../shared/log/log';

const RETRY_MS = 500;
const CALL_TIMEOUT_MS = 5_000;
/** Number of tries between two log lines of a continued wait. */
const TELL_EVERY_TRIES = 20;

/** Resolves once the API server is ready, and logs what it waits for meanwhile. Rejects with the signal's reason. */
export async function waitForApiServer(client: Client, log: Log, signal: AbortSignal): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const problem = await problemOf(client, signal);
    signal.throwIfAborted();
    if (problem === undefined) {
      if (tries > 0) log.info({}, 'the API server is ready');
      return;
    }
    if (tries % TELL_EVERY_TRIES === 0) log.info({ problem }, 'waiting for the API server');
    await sleep(RETRY_MS, signal);
  }
}

async function problemOf(client: Client, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { code } = await client.request({
      method: 'GET',
      path: '/readyz',
      signal,
      timeoutMs: CALL_TIMEOUT_MS,
    });
    // A server that forbids the question is up.
    return code === 200 || code === 403 ? undefined : `GET /readyz answered ${String(code)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
