import { TIMER_MAX_MS } from '../../../../shared/concurrency/timer-max';
import { StatusError } from '../../../../shared/errors/status-error';
import type { Representation } from '../state/entry';
import type { CacheEvent } from '../state/event';
import { FanOut } from './fan-out';
import type { SlowReaderCause } from '../../request/slow-reader-error';
import { SlowReaderError } from '../../request/slow-reader-error';
import type { ResourceStats, WatcherInfo } from '../stats';
import type { OpenWatch } from './watch-iterator';
import type { EndReason, WatchRequest } from './watch-request';
import type { WatchedState, WatchSource } from './watch-stream';
import { streamWatch } from './watch-stream';
import type { SentCounter, WatcherHost } from './watcher';
import { Watcher, newSentCounter } from './watcher';

/** Reasons after which a client resumes from its last revision. */
const RESUMABLE: ReadonlySet<EndReason> = new Set(['timeout', 'drain', 'unavailable', 'redefined']);

/**
 * The limit that evicted a slow watcher: its own queue, the write timeout of its connection, the unread bytes of its user or of all users,
 * or the budget of all queues.
 */
type SlowCause = 'queue full' | 'stalled' | 'too many unread bytes' | 'all queues full';
const CAUSES: Readonly<Record<SlowReaderCause, SlowCause>> = {
  stalled: 'stalled',
  memory: 'too many unread bytes',
};

const UNAUTHORIZED = 401;

/** Upstream sends the last bookmark this long before the timeout, so a shorter watch gets none. */
const LAST_BOOKMARK_LEAD_MS = 2_000;

/** The open watches of one resource: begins them, dispatches events, sends bookmarks, and ends them with a counted reason. */
export class ResourceWatches implements WatchSource {
  readonly state: WatchedState;
  readonly #fanOut: FanOut;
  readonly #host: WatcherHost;
  readonly #watchers = new Set<Watcher>();
  /** Ended watchers with an unread queue. */
  readonly #unread = new Set<Watcher>();
  #isClosed = false;
  #slowEnded = 0;
  /** By requested API version. */
  readonly #sent = new Map<string, SentCounter>();
  /** Shared bookmark frames of the newest revision, by representation. */
  #bookmarks = { revision: 0, frames: new Map<string, Buffer>() };

  constructor(state: WatchedState) {
    this.state = state;
    this.#fanOut = new FanOut(state.resource);
    this.#host = this.#createHost();
  }

  /** Opens a watch. It ends at its timeout, when `signal` aborts, or when the server ends it. */
  begin(request: WatchRequest, signal: AbortSignal): OpenWatch {
    const { services, owner } = this.state;
    const watcher = this.#createWatcher(request);
    this.#watchers.add(watcher);
    watcher.sent.watchers += 1;
    services.counters.watchesStarted += 1;
    const close = (): void => {
      // The listener detects a stalled client even if too few events occur to fill the queue.
      if (signal.reason instanceof SlowReaderError) this.#endSlow(watcher, CAUSES[signal.reason.readerCause]);
      else this.end(watcher, 'aborted');
      watcher.discard();
    };
    const timer = setTimeout(
      () => {
        this.end(watcher, 'timeout');
      },
      Math.min(request.timeoutMs, TIMER_MAX_MS),
    );
    timer.unref();
    signal.addEventListener('abort', close, { once: true });
    const unguard = request.guard?.((refusal) => {
      this.#refuse(watcher, refusal);
    });
    watcher.onEnding(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', close);
      unguard?.();
    });
    if (this.#isClosed) this.end(watcher, 'expired');
    else if (owner.refusesWatches()) this.end(watcher, 'drain');
    return { watcher, catchUp: streamWatch(this, watcher), close };
  }

  join(watcher: Watcher): void {
    watcher.isLive = true;
    this.#fanOut.add(watcher);
  }

  /** Evicts the watcher because all queues together are too large. An ended watcher loses its unread queue. */
  evict(watcher: Watcher): void {
    if (this.#watchers.has(watcher)) this.#endSlow(watcher, 'all queues full');
    else if (this.#unread.has(watcher)) {
      this.#noteSlow(watcher, 'all queues full');
      watcher.discard();
      watcher.request.ended?.('slow');
    }
  }

  end(watcher: Watcher, reason: EndReason): void {
    if (!this.#watchers.delete(watcher)) return;
    watcher.sent.watchers -= 1;
    this.#fanOut.remove(watcher);
    this.state.services.counters.watchesEnded[reason] += 1;
    watcher.end(reason, watcher.isLive ? this.lastFrame(watcher, reason) : undefined);
    if (watcher.queuedFrames > 0) this.#unread.add(watcher);
  }

  lastFrame(watcher: Watcher, reason: EndReason): Buffer | undefined {
    const { request, representation } = watcher;
    if (watcher.refusal !== undefined) return representation.error(watcher.refusal.status);
    if (reason === 'expired') return representation.error(this.#expired(request).status);
    if (!RESUMABLE.has(reason) || isTooShort(request, reason)) return undefined;
    // A revision that is partly queued must not be followed by a bookmark of an older revision.
    if (watcher.heldRevision !== undefined) return undefined;
    const revision = watcher.isLive ? this.state.revision : watcher.sentRevision;
    return request.bookmarks && revision > 0 ? representation.bookmark(revision, false) : undefined;
  }

  /** Dispatches a change to the live watches that it matches. */
  dispatch(event: CacheEvent): void {
    this.#fanOut.dispatch(event);
  }

  /** Sends the bookmarks that are due at `now` (milliseconds since the epoch). */
  sendBookmarks(now: number): void {
    const { bookmarkIntervalMs } = this.state.services.limits;
    for (const watcher of this.#watchers) {
      if (!watcher.isLive || !watcher.request.bookmarks || watcher.heldRevision !== undefined) continue;
      if (now - watcher.bookmarkedAt < bookmarkIntervalMs) continue;
      watcher.bookmarkedAt = now;
      watcher.push(this.#bookmark(watcher.representation));
    }
  }

  /** Ends every watch because the definition of the resource changes. Clients resume from their last revision. */
  redefine(): void {
    for (const watcher of this.#watchers) this.end(watcher, 'redefined');
  }

  /** Ends watches with 410 before a rebuild. Watches that have not received any state yet continue. */
  expire(): void {
    for (const watcher of this.#watchers) {
      if (watcher.hasBegun) this.end(watcher, 'expired');
    }
  }

  /** Ends every watch with 410, and also each new one. */
  close(): void {
    this.#isClosed = true;
    for (const watcher of this.#watchers) this.end(watcher, 'expired');
  }

  /** The open watches, oldest first. */
  open(): Watcher[] {
    return [...this.#watchers];
  }

  /** All watches with a queue: the open ones, and ended ones whose queue is unread. */
  holders(): Watcher[] {
    return [...this.#watchers, ...this.#unread];
  }

  stats(): Pick<ResourceStats, 'watchers' | 'sent' | 'slowEnded'> {
    return {
      watchers: this.#watchers.size,
      sent: [...this.#sent].map(([apiVersion, counter]) => ({ apiVersion, ...counter })),
      slowEnded: this.#slowEnded,
    };
  }

  infos(): WatcherInfo[] {
    const { resource, revision } = this.state;
    return this.holders().map((watcher) => ({
      resource: resource.name,
      client: watcher.request.client,
      namespace: watcher.request.namespace,
      name: watcher.request.name,
      labelSelector: watcher.request.labelSelector ?? '',
      fieldSelector: watcher.request.fieldSelector ?? '',
      representation: watcher.representation.id,
      isLive: watcher.isLive && watcher.ending === undefined,
      queuedFrames: watcher.queuedFrames,
      queuedBytes: watcher.queuedBytes,
      sentRevision: watcher.isLive ? (watcher.heldRevision ?? revision + 1) - 1 : watcher.sentRevision,
      startedAt: watcher.startedAt,
    }));
  }

  #endSlow(watcher: Watcher, cause: SlowCause): void {
    if (!this.#watchers.has(watcher)) return;
    this.#noteSlow(watcher, cause);
    this.end(watcher, 'slow');
  }

  #noteSlow(watcher: Watcher, cause: SlowCause): void {
    this.#slowEnded += 1;
    const { services, resource } = this.state;
    const { request, queuedFrames, queuedBytes } = watcher;
    const queueBytesMax = services.limits.watcherQueueBytesMax;
    services.log.warn(
      { resource: resource.name, client: request.client, cause, queuedFrames, queuedBytes, queueBytesMax },
      'slow watcher ended: the client does not read its events',
    );
  }

  /** Ends the watch with the error that a new request of the client would get. */
  #refuse(watcher: Watcher, refusal: StatusError): void {
    watcher.refusal ??= refusal;
    this.end(watcher, refusal.status.code === UNAUTHORIZED ? 'unauthorized' : 'forbidden');
  }

  #createWatcher(request: WatchRequest): Watcher {
    return new Watcher({
      request,
      host: this.#host,
      startedAt: this.state.services.clock.now(),
      sent: this.#sentAs(request.apiVersion),
    });
  }

  #createHost(): WatcherHost {
    const { resource, services, owner } = this.state;
    const { limits, scheduler, log } = services;
    return {
      scheduler,
      queueFramesMax: limits.watcherQueueFramesMax,
      queueBytesMax: limits.watcherQueueBytesMax,
      overflowed: (slow) => {
        this.#endSlow(slow, 'queue full');
      },
      emptied: (ended) => this.#unread.delete(ended),
      queuesOverflowed: owner.relieveQueues,
      failed: (failing, error) => {
        const { client } = failing.request;
        log.error(
          { resource: resource.name, client, representation: failing.representation.id, error },
          'watch ended: failed to encode an event',
        );
        this.end(failing, 'unavailable');
      },
    };
  }

  #sentAs(apiVersion: string): SentCounter {
    let counter = this.#sent.get(apiVersion);
    if (counter === undefined) {
      counter = newSentCounter();
      this.#sent.set(apiVersion, counter);
    }
    return counter;
  }

  #bookmark(representation: Representation): Buffer {
    const { revision } = this.state;
    if (this.#bookmarks.revision !== revision) this.#bookmarks = { revision, frames: new Map() };
    let frame = this.#bookmarks.frames.get(representation.id);
    if (frame === undefined) {
      frame = representation.bookmark(revision, false);
      this.#bookmarks.frames.set(representation.id, frame);
    }
    return frame;
  }

  #expired(request: WatchRequest): StatusError {
    const from = request.from ?? 0;
    return new StatusError('Expired', `too old resource version: ${from} (${this.state.ring.floor})`);
  }
}

function isTooShort({ timeoutMs }: WatchRequest, reason: EndReason): boolean {
  return reason === 'timeout' && timeoutMs <= LAST_BOOKMARK_LEAD_MS;
}
