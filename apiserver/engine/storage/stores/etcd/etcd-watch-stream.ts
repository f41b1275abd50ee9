import { sleep } from '../../../../../shared/concurrency/abort';
import { linkedAbort } from '../../../../../shared/concurrency/linked-abort';
import type { Log } from '../../../../../shared/log/log';
import type { Revision } from '../../backend';
import { StorageError } from '../../backend';
import type { Tokens } from './auth';
import { METHODS } from './codec';
import { toStorageError, watchRefusal } from './errors';
import type { KeyRange } from './keys';
import { WHOLE_KEYSPACE } from './keys';
import type { ResponseHeader, WatchResponse } from './proto';
import type { ResponseStream, Transport } from '../../grpc/transport';
import type { WatchState } from './watch-state';
import { WatchGap } from './watch-state';

/*
 * The states of one watch. `last` is the newest revision delivered; it moves only in `streaming`, and only by an event.
 *
 * | state      | on                                        | does                                             | next       |
 * | ---------- | ----------------------------------------- | ------------------------------------------------ | ---------- |
 * | connecting | connected                                 | requests a token, sends the create request       | creating   |
 * |            | refused, timed out                        |                                                  | waiting    |
 * |            | certificate or password refused by all    | throws `denied`                                  | ended      |
 * | creating   | `created`, the identity is another one    | throws `reset`                                   | ended      |
 * |            | `created`, revision of the header >= last |                                                  | streaming  |
 * |            | `created`, revision of the header < last  | linearizable read: a member that lags, or reset? | verifying  |
 * |            | `canceled`, compact revision == last + 1  | begins there, see WatchState                     | waiting    |
 * |            | `canceled`, another compact revision      | throws `compacted`                               | ended      |
 * |            | `canceled`, permission denied             | throws `denied`                                  | ended      |
 * |            | error, end, nothing within the time       |                                                  | waiting    |
 * | verifying  | the store's newest revision >= last       |                                                  | streaming  |
 * |            | the store's newest revision < last        | throws `reset`                                   | ended      |
 * |            | no answer                                 |                                                  | waiting    |
 * | streaming  | events                                    | delivers whole revisions, `last` moves           | streaming  |
 * |            | fragment                                  | keeps the revision at its end back               | streaming  |
 * |            | another cluster id, another history       | throws `reset`                                   | ended      |
 * |            | the compact revision's events are missing | throws `compacted`                               | ended      |
 * |            | a revision is missing                     | the first time: forgets the stream               | waiting    |
 * |            | a revision is missing again               | throws `reset`                                   | ended      |
 * |            | `canceled`, error, end                    | forgets the fragments                            | waiting    |
 * | waiting    | 200 ms passed                             | takes the next endpoint, a new connection        | connecting |
 * | any        | the signal aborts, the reader leaves      | cancels the stream, closes the connection        | ended      |
 *
 * Progress notifications are not used: those of etcd before 3.4.25 and 3.5.8 can overtake events.
 */

export interface EtcdWatchOptions {
  readonly state: WatchState;
  readonly range: KeyRange;
  readonly withPrevious: boolean;
  readonly endpoints: readonly string[];
  readonly connect: (endpoint: string) => Transport;
  readonly tokens: Tokens | undefined;
  readonly dialTimeoutMs: number;
  /** Throws a StorageError `reset` when the store's newest revision, by a linearizable read, went back below the watch's last. */
  readonly verify: (state: WatchState, signal: AbortSignal) => Promise<void>;
  /** Called for each stream after the server created it and before its events are delivered. An error ends the stream. */
  readonly begun: (signal: AbortSignal) => Promise<void>;
  /** Called with each response header. */
  readonly onHeader: (header: ResponseHeader) => void;
  readonly log: Log;
}

const RETRY_MS = 200;
const FAILURES_PER_LOG_LINE = 50;

/**
 * Batches of whole revisions until `caller` or `closing` aborts, over as many streams as it takes. Begun after `closing` aborted it
 * throws that signal's reason. Each stream has a connection of its own, so
 * that a slow reader does not delay another.
 */
export async function* etcdWatchStream(
  options: EtcdWatchOptions,
  caller: AbortSignal,
  closing: AbortSignal,
): AsyncGenerator<readonly Revision[]> {
  if (closing.aborted) throw closing.reason as Error;
  const { signal, unlink } = linkedAbort(caller, closing);
  const { endpoints, log } = options;
  const failures = { total: 0, inRow: 0, denied: 0 };
  try {
    while (!signal.aborted) {
      const endpoint = endpoints[failures.total % endpoints.length] ?? '';
      try {
        for await (const revisions of oneStream(options, endpoint, signal)) {
          failures.denied = 0;
          failures.inRow = 0;
          yield revisions;
        }
      } catch (error) {
        if (signal.aborted) return;
        throwIfFinal(error, failures, endpoints.length);
        if (failures.inRow % FAILURES_PER_LOG_LINE === 0) {
          const why = error instanceof Error ? error.message : String(error);
          const fields = { endpoint, error: why, resumeAfter: options.state.lastRevision };
          log.warn(fields, 'etcd watch broken; reconnecting');
        }
      }
      failures.total++;
      failures.inRow++;
      if (!(await pause(signal))) return;
    }
  } finally {
    unlink();
  }
}

/** A refusal is final when every endpoint in turn gave it. */
function throwIfFinal(error: unknown, failures: { denied: number }, endpointCount: number): void {
  if (error instanceof WatchGap) return;
  const meaning = toStorageError(error, 'repeatable');
  if (meaning.code === 'denied') {
    failures.denied++;
    if (failures.denied < endpointCount) return;
    throw meaning;
  }
  failures.denied = 0;
  if (meaning.code !== 'unavailable') throw meaning;
}

/** False when the signal aborted. */
async function pause(signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(RETRY_MS, signal);
    return true;
  } catch {
    return false;
  }
}

async function* oneStream(
  options: EtcdWatchOptions,
  endpoint: string,
  signal: AbortSignal,
): AsyncGenerator<readonly Revision[]> {
  const { tokens, dialTimeoutMs } = options;
  const transport = options.connect(endpoint);
  let stream: ResponseStream<WatchResponse> | undefined;
  const cancel = (): void => stream?.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  let creation: NodeJS.Timeout | undefined;
  let hasBegun = false;
  try {
    await transport.ready(dialTimeoutMs, signal);
    // A token expires when unused, and a watch uses it only once.
    tokens?.forget();
    const token = await tokens?.get(transport, signal);
    if (signal.aborted) return;
    stream = transport.stream(METHODS.watch, createRequest(options), { token });
    creation = setTimeout(cancel, dialTimeoutMs);
    for await (const responses of stream) {
      clearTimeout(creation);
      if (!hasBegun) await options.begun(signal);
      hasBegun = true;
      const { revisions, failure } = await acceptAll(options, responses, signal);
      // Revisions accepted before the failure are not repeated.
      if (revisions.length > 0) yield revisions;
      if (failure !== undefined) throw failure;
    }
  } finally {
    clearTimeout(creation);
    signal.removeEventListener('abort', cancel);
    cancel();
    transport.close();
  }
}

async function acceptAll(
  { state, verify, onHeader }: EtcdWatchOptions,
  responses: readonly WatchResponse[],
  signal: AbortSignal,
): Promise<{ readonly revisions: readonly Revision[]; readonly failure?: Error }> {
  const revisions: Revision[] = [];
  try {
    for (const response of responses) {
      throwIfCanceled(response, state);
      if (response.header.revision < state.lastRevision) await verify(state, signal);
      state.accept(response, revisions);
      onHeader(response.header);
    }
  } catch (error) {
    return { revisions, failure: error as Error };
  }
  return { revisions };
}

function createRequest({
  state,
  range,
  withPrevious,
}: EtcdWatchOptions): Parameters<typeof METHODS.watch.encode>[0] {
  const start = state.startStream();
  const keys = start.needsWholeKeyspace ? WHOLE_KEYSPACE : range;
  return { create: { ...keys, startRevision: start.revision, prevKv: withPrevious, fragment: true } };
}

function throwIfCanceled(response: WatchResponse, state: WatchState): void {
  if (response.compactRevision > 0) state.refuse(response.compactRevision);
  if (!response.canceled) return;
  const refusal = watchRefusal(response.cancelReason);
  if (refusal !== undefined) throw refusal;
  throw new StorageError('unavailable', `etcd canceled the watch: ${response.cancelReason}.`);
}
