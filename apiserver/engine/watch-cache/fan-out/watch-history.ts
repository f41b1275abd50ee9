import { linkedAbort } from '../../../../shared/concurrency/linked-abort';
import type { Revision } from '../../storage/backend';
import { StorageError } from '../../storage/backend';
import type { CacheServices } from '../context';
import type { CachedResource } from '../state/entry';
import { CacheEvent } from '../state/event';
import { decodeStored } from '../state/decode-stored';
import { Slices } from '../../../../shared/concurrency/slices';

export interface HistoryRequest {
  readonly resource: CachedResource;
  /** Exclusive. */
  readonly from: number;
  /** The oldest revision of the ring buffer. Called for each revision, because the ring buffer drops events meanwhile. */
  readonly floor: () => number;
  /** Whether a watch of the prefix of the resource is certain to reach the floor. */
  readonly isFloorVisible: boolean;
}

export interface HistoryPart {
  /** Whole revisions, in order. */
  readonly events: readonly CacheEvent[];
  /** Everything up to here was delivered. */
  readonly through: number;
}

/**
 * Reads the events of one resource after `from` from the store, until the ring buffer takes over. Ends once `through` reaches the floor,
 * or earlier when its slot is preempted: the caller then calls again with the last `through`. Throws `compacted` when the store no longer
 * has the history.
 *
 * A watch of a prefix does not report revisions without events below it. It would hang if the floor is such a revision and no event
 * follows. In that case the whole keyspace is watched, where every revision is reported.
 */
export async function* readWatchHistory(
  services: CacheServices,
  request: HistoryRequest,
  signal: AbortSignal,
): AsyncIterable<HistoryPart> {
  const turn = await services.history.enter(signal);
  services.counters.historyStreams += 1;
  const stop = linkedAbort(signal, turn.over);
  const prefix = `${services.prefix}/${request.resource.keyPrefix}`;
  const slices = new Slices();
  try {
    const batches = services.backend.watch(
      { from: request.from + 1, withPrevious: true, ...(request.isFloorVisible ? { prefix } : {}) },
      stop.signal,
    );
    let through = request.from;
    for await (const batch of batches) {
      let events: CacheEvent[] = [];
      for (const revision of batch) {
        if (revision.revision > request.floor()) {
          through = request.floor();
          break;
        }
        for (const event of eventsOf(services, request.resource, revision)) events.push(event);
        through = revision.revision;
        if (!slices.due()) continue;
        turn.pause();
        yield { events, through };
        turn.resume();
        if (turn.over.aborted) return;
        events = [];
        await slices.pause();
      }
      // Evaluated before the yield: the floor may rise meanwhile, and the rest of this batch is not read again.
      const isDone = through >= request.floor();
      turn.pause();
      yield { events, through };
      turn.resume();
      if (isDone || turn.over.aborted) return;
    }
    signal.throwIfAborted();
    if (turn.over.aborted) return;
    throw new StorageError('unavailable', 'the watch of past revisions ended early');
  } finally {
    stop.unlink();
    stop.abort(new Error('the history is read'));
    turn.leave();
  }
}

function eventsOf(services: CacheServices, resource: CachedResource, revision: Revision): CacheEvent[] {
  const prefix = `${services.prefix}/${resource.keyPrefix}`;
  const events: CacheEvent[] = [];
  for (const event of revision.events) {
    if (!event.key.startsWith(prefix)) continue;
    const before = event.previous;
    if (before === undefined && (event.type === 'delete' || !event.created)) {
      throw new StorageError('compacted', `the state before revision ${revision.revision} is gone`);
    }
    const key = event.key.slice(prefix.length);
    const decode = (value: Buffer, at: number): ReturnType<typeof decodeStored> =>
      decodeStored(resource, services, { value }, { key, revision: at });
    const previous = before === undefined ? undefined : decode(before.value, before.revision);
    const current = event.type === 'put' ? decode(event.value, revision.revision) : undefined;
    if (current === undefined && previous === undefined) continue;
    events.push(new CacheEvent({ revision: revision.revision, current, previous }, services.clock.now()));
  }
  return events;
}
