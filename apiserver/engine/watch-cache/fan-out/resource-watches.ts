import { TIMER_MAX_MS } from '../../../../shared/concurrency/timer-max';
import { StatusError } from '../../../../shared/errors/status-error';
import type { Representation } from '../state/entry';
import type { CacheEvent } from '../state/event';
import { FanOut } from './fan-out';
import { SlowReaderError } from '../../request/slow-reader-error';
import type { ResourceStats, WatcherInfo } from '../stats';
import type { OpenWatch } from './watch-iterator';
import type { EndReason, WatchRequest } from './watch-request';
import type { WatchedState, WatchSource } from './watch-stream';
import { streamWatch } from './watch-stream';
import type { SentCounter, WatcherHost } from './watcher';
import { Watcher, newSentCounter } from './watcher';

/** Ends after which a client goes on behind what it was told. */
const RESUMABLE: ReadonlySet<EndReason> = new Set(['timeout', 'drain', 'unavailable', 'redefined']);

/**
 * Which limit a slow watcher hit: that of its queue, the time in which its connection has to take something, or that of all queues together,
 * of which it had the longest.
 */
type SlowCause = 'queue full' | 'stalled' | 'all queues full';

const UNAUTHORIZED = 401;

/** A watch that is to end sooner has no bookmark at its end: upstream sends that one so long before, in milliseconds. */
const LAST_BOOKMARK_LEAD_MS = 2_000;

/** The watches of one resource that are open: begun, fed, sent bookmarks, and ended, each for a reason that is counted. */
export class ResourceWatches implements WatchSource {
  readonly state: WatchedState;
  readonly #fanOut: FanOut;
  readonly #host: WatcherHost;
  readonly #watchers = new Set<Watcher>();
  /** Ended, and not all of what was queued is read. */
  readonly #unread = new Set<Watcher>();
  #isClosed = false;
  #slowEnded = 0;
  /** By the version that was asked for. */
  readonly #sent = new Map<string, SentCounter>();
  /** Bookmarks of the newest revision, by representation. */
  #bookmarks = { revision: 0, frames: new Map<string, Buffer>() };

  constructor(state: WatchedState) {
    this.state = state;
    this.#fanOut = new FanOut(state.resource);
    this.#host = this.#createHost();
  }

  /** Opens a watch. It ends by its timeout, or when `signal` aborts, or as the state of the server wants it. */
  begin(request: WatchRequest, signal: AbortSignal): OpenWatch {
    const { services, owner } = this.state;
    const watcher = this.#createWatcher(request);
    this.#watchers.add(watcher);
    watcher.sent.watchers += 1;
    services.counters.watchesStarted += 1;
    const close = (): void => {
      // The listener notices by itself that a client takes nothing, when too little happens for the queue to overflow.
      if (signal.reason instanceof SlowReaderError) this.#endSlow(watcher, 'stalled');
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

  /** Ends the watcher, whose queue is the longest, because all queues together are too large. One that has ended loses what is not read. */
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
    // What was queued of a revision says more than a bookmark of the one before it would.
    if (watcher.heldRevision !== undefined) return undefined;
    const promised = watcher.isLive ? this.state.revision : watcher.sentRevision;
    return request.bookmarks && promised > 0 ? representation.bookmark(promised, false) : undefined;
  }

  /** Hands a change to the live watches that it concerns. */
  dispatch(event: CacheEvent): void {
    this.#fanOut.dispatch(event);
  }

  /** Sends the bookmarks that are due at this moment, in milliseconds since the epoch. */
  sendBookmarks(now: number): void {
    const { bookmarkIntervalMs } = this.state.services.limits;
    for (const watcher of this.#watchers) {
      if (!watcher.isLive || !watcher.request.bookmarks || watcher.heldRevision !== undefined) continue;
      if (now - watcher.bookmarkedAt < bookmarkIntervalMs) continue;
      watcher.bookmarkedAt = now;
      watcher.push(this.#bookmark(watcher.representation));
    }
  }

  /** Ends every watch, because what is shown of the objects changes. Clients go on where they were. */
  redefine(): void {
    for (const watcher of this.#watchers) this.end(watcher, 'redefined');
  }

  /** Ends with 410 what has seen anything of a state that is given up. One that still waits for its first state has not. */
  expire(): void {
    for (const watcher of this.#watchers) {
      if (watcher.hasBegun) this.end(watcher, 'expired');
    }
  }

  /** Ends every watch with 410, and each that is begun from now on. */
  close(): void {
    this.#isClosed = true;
    for (const watcher of this.#watchers) this.end(watcher, 'expired');
  }

  /** The watches that are open, oldest first. */
  open(): Watcher[] {
    return [...this.#watchers];
  }

  /** All watches that have a queue: those that are open, and those that have ended while it is not read. */
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
    services.log.warn(
      { resource: resource.name, client: request.client, cause, queuedFrames, queuedBytes },
      'slow watcher ended: the client does not read its events',
    );
  }

  /** The client is told what its next request would be answered with: it lists anew, and learns why that fails. */
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
