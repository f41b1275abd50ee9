import { untilAborted } from '../../shared/concurrency/abort';
import { TIMER_MAX_MS } from '../../shared/concurrency/timer-max';
import { StatusError } from '../../shared/errors/status-error';
import type { StoreEvent, StoredRecord } from '../storage/backend';
import type { CacheContext } from './context';
import type { CachedResource, Entry, Representation } from './entry';
import { FanOut } from './fan-out';
import { ObjectStore } from './object-store';
import type { Ring } from './ring';
import type { Snapshot } from './snapshot';
import type { SnapshotOwner } from './snapshot-budget';
import { SlowReaderError } from './slow-reader-error';
import type { ResourceStats, WatcherInfo } from './stats';
import type { EndReason, WatchRequest } from './watch-request';
import type { OpenWatch } from './watch-iterator';
import { WatchIterator } from './watch-iterator';
import type { WatchSource } from './watch-stream';
import { streamWatch } from './watch-stream';
import type { SentCounter, WatcherHost } from './watcher';
import { Watcher } from './watcher';

/** Ends after which a client goes on behind what it was told. */
const RESUMABLE: ReadonlySet<EndReason> = new Set(['timeout', 'drain', 'unavailable', 'redefined']);

/** Is told of a change in the very step in which it happens, so that whoever waits for its revision finds it done. Must not throw. */
export interface CacheListener {
  /** The object below the key is another one now, or (undefined) it is gone. */
  changed(key: string, current: Entry | undefined): void;
  /** All objects were read anew. */
  filled(): void;
}

/**
 * The cache of one resource as readers see it. Everything is synchronous and shows whole revisions; a reader never sees a state
 * between two. The methods under "For the cluster cache" are its business only.
 */
export class ResourceCache implements WatchSource, SnapshotOwner {
  readonly resource: CachedResource;
  readonly context: CacheContext;
  readonly #fanOut: FanOut;
  readonly #host: WatcherHost;
  readonly #watchers = new Set<Watcher>();
  #store: ObjectStore;
  #isReady = false;
  #isClosed = false;
  #slowEnded = 0;
  /** By the version that was asked for. */
  readonly #sent = new Map<string, SentCounter>();
  readonly #readyWaiters = new Set<() => void>();
  readonly #followers: CacheListener[] = [];
  /** Bookmarks of the newest revision, by representation. */
  #bookmarks = { revision: 0, frames: new Map<string, Buffer>() };

  constructor(resource: CachedResource, context: CacheContext) {
    this.resource = resource;
    this.context = context;
    this.#fanOut = new FanOut(resource);
    this.#host = this.#createHost();
    this.#store = new ObjectStore(resource, context, 0);
  }

  /** False while the resource is being filled; its objects must then be read from the store. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** The newest revision whose effect is in the cache. */
  get revision(): number {
    return this.context.revision();
  }

  /** A watch that starts after this revision, or a later one, is served from memory. */
  get oldestWatchable(): number {
    return this.#store.ring.floor;
  }

  get ring(): Ring {
    return this.#store.ring;
  }

  get departedBytes(): number {
    return this.#store.departedBytes;
  }

  /** The current object under a key relative to the resource: `<namespace>/<name>` or `<name>`. */
  get(key: string): Entry | undefined {
    return this.#store.get(key);
  }

  /** The current state. Constant time; shared by all who ask before the next change. */
  snapshot(): Snapshot {
    return this.#store.snapshot(this.revision);
  }

  /**
   * Objects of the current state that may have all of these labels, in key order, and at least those that have; undefined when there
   * is no index that helps: then all have to be looked at.
   */
  byLabels(equals: readonly (readonly [label: string, value: string])[]): readonly Entry[] | undefined {
    return this.#store.byLabels(equals);
  }

  /** Keeps a snapshot for later pages of a list, as long as budgets allow; not one from before the cache was built anew. */
  retain(snapshot: Snapshot): void {
    if (!this.#store.owns(snapshot)) return;
    const validFrom = snapshot.revision >= this.#store.changedAt ? this.#store.changedAt : snapshot.revision;
    this.context.snapshots.retain(this, { snapshot, validFrom, now: this.context.clock.now() });
  }

  /** The state of exactly this revision, if memory still has it: current, retained, or by undoing the ring's events. */
  async snapshotAt(revision: number): Promise<Snapshot | undefined> {
    if (!this.#isReady || revision > this.revision) return undefined;
    if (revision >= this.#store.changedAt) return this.snapshot().at(revision);
    const retained = this.context.snapshots.find(this, revision);
    if (retained !== undefined) return retained.at(revision);
    return this.#store.rewind(revision, this.context.limits.undoEventsMax);
  }

  /**
   * Streams one watch; see {@link WatchRequest}. Nothing happens before the first `next`. A lost window is an ERROR frame with
   * Status 410; the iteration itself never throws. To be closed when the client leaves, or `signal` aborted.
   */
  watch(request: WatchRequest, signal: AbortSignal): WatchIterator {
    return new WatchIterator(() => (signal.aborted ? undefined : this.#begin(request, signal)));
  }

  join(watcher: Watcher): void {
    watcher.isLive = true;
    this.#fanOut.add(watcher);
  }

  end(watcher: Watcher, reason: EndReason): void {
    if (!this.#watchers.delete(watcher)) return;
    this.#fanOut.remove(watcher);
    this.context.counters.watchesEnded[reason] += 1;
    if (reason === 'slow') {
      this.#slowEnded += 1;
      const { request, queuedFrames, queuedBytes } = watcher;
      this.context.log.warn(
        { resource: this.resource.name, client: request.client, queuedFrames, queuedBytes },
        'A watch ends because its client does not take what it asked for',
      );
    }
    watcher.end(reason, watcher.isLive ? this.lastFrame(watcher, reason) : undefined);
  }

  lastFrame(watcher: Watcher, reason: EndReason): Buffer | undefined {
    const { request, representation } = watcher;
    if (reason === 'expired') return representation.error(this.#expired(request).status);
    if (!RESUMABLE.has(reason)) return undefined;
    const promised = watcher.isLive ? this.revision : watcher.sentRevision;
    return request.bookmarks && promised > 0 ? representation.bookmark(promised, false) : undefined;
  }

  /** Resolves at once, or at the next moment at which the resource is filled. */
  async whenReady(signal: AbortSignal): Promise<void> {
    if (this.#isReady) return;
    let wake: () => void = () => undefined;
    const ready = new Promise<void>((resolve) => {
      wake = resolve;
    });
    this.#readyWaiters.add(wake);
    try {
      await untilAborted(ready, signal);
    } finally {
      this.#readyWaiters.delete(wake);
    }
  }

  stats(): ResourceStats {
    return {
      resource: this.resource.name,
      objects: this.#store.size,
      objectBytes: this.#store.slabs.liveBytes,
      slabBytes: this.#store.slabs.allocatedBytes,
      ringEvents: this.ring.size,
      ringBytes: this.ring.bytes,
      oldestWatchable: this.oldestWatchable,
      watchers: this.#watchers.size,
      sent: [...this.#sent].map(([apiVersion, { frames }]) => ({ apiVersion, frames })),
      slowEnded: this.#slowEnded,
      isReady: this.#isReady,
      readyWaiters: this.#readyWaiters.size,
    };
  }

  watchers(): WatcherInfo[] {
    return [...this.#watchers].map((watcher) => ({
      resource: this.resource.name,
      client: watcher.request.client,
      namespace: watcher.request.namespace,
      name: watcher.request.name,
      labelSelector: watcher.request.labelSelector ?? '',
      fieldSelector: watcher.request.fieldSelector ?? '',
      representation: watcher.representation.id,
      isLive: watcher.isLive,
      queuedFrames: watcher.queuedFrames,
      queuedBytes: watcher.queuedBytes,
      sentRevision: watcher.isLive ? this.revision : watcher.sentRevision,
      startedAt: watcher.startedAt,
    }));
  }

  /** The listener lives as long as the cache. */
  follow(listener: CacheListener): void {
    this.#followers.push(listener);
  }

  /** Ends every watch, because what is shown of the objects changes. Clients go on where they were. */
  endWatches(): void {
    for (const watcher of this.#watchers) this.end(watcher, 'redefined');
  }

  // For the cluster cache.

  /** Forgets everything and ends every watch with 410: what follows is a new state. `revision` is that of the fill to come. */
  beginFill(revision: number): void {
    this.#isReady = false;
    for (const watcher of this.#watchers) {
      // One that still waits for its first state has seen nothing of the old one.
      if (watcher.hasBegun) this.end(watcher, 'expired');
    }
    this.context.snapshots.forget(this);
    this.#store.close();
    this.#store = new ObjectStore(this.resource, this.context, revision);
  }

  load(key: string, record: StoredRecord): void {
    const { value, revision } = record;
    const entry = this.#store.decode({ key, value, revision });
    if (entry !== undefined) this.#store.load(entry);
  }

  endFill(): void {
    this.#isReady = true;
    for (const listener of this.#followers) listener.filled();
    for (const wake of this.#readyWaiters) wake();
    this.#readyWaiters.clear();
  }

  /** Applies one event of the store and hands it to the watchers it concerns. */
  apply(key: string, stored: StoreEvent, revision: number): void {
    this.context.counters.events += 1;
    const current =
      stored.type === 'put' ? this.#store.decode({ key, value: stored.value, revision }) : undefined;
    const event = this.#store.apply(key, current, revision);
    if (event === undefined) return;
    this.#fanOut.dispatch(event);
    for (const listener of this.#followers) listener.changed(key, current);
  }

  /** Drops what is too old and sends the bookmarks that are due. */
  sweep(now: number): void {
    this.ring.trim(now);
    this.#store.dropIdleSnapshot();
    this.#store.trimIndexes(now);
    const { bookmarkIntervalMs } = this.context.limits;
    if (!this.#isReady) return;
    for (const watcher of this.#watchers) {
      if (!watcher.isLive || !watcher.request.bookmarks) continue;
      if (now - watcher.bookmarkedAt < bookmarkIntervalMs) continue;
      watcher.bookmarkedAt = now;
      watcher.push(this.#bookmark(watcher.representation));
    }
  }

  /** The watches that are open, oldest first. */
  openWatchers(): Watcher[] {
    return [...this.#watchers];
  }

  /** The resource is not served any more. */
  close(): void {
    this.#isClosed = true;
    for (const watcher of this.#watchers) this.end(watcher, 'expired');
    this.context.snapshots.forget(this);
    this.#store.close();
    this.#isReady = false;
  }

  #begin(request: WatchRequest, signal: AbortSignal): OpenWatch {
    const watcher = this.#createWatcher(request);
    this.#watchers.add(watcher);
    this.context.counters.watchesStarted += 1;
    const close = (): void => {
      // The door notices by itself that a client takes nothing, when too little happens for the queue to overflow.
      this.end(watcher, signal.reason instanceof SlowReaderError ? 'slow' : 'aborted');
    };
    const timer = setTimeout(
      () => {
        this.end(watcher, 'timeout');
      },
      Math.min(request.timeoutMs, TIMER_MAX_MS),
    );
    timer.unref();
    signal.addEventListener('abort', close, { once: true });
    watcher.onEnding(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', close);
    });
    if (this.#isClosed) this.end(watcher, 'expired');
    else if (this.context.refusesWatches()) this.end(watcher, 'drain');
    return { watcher, catchUp: streamWatch(this, watcher), close };
  }

  #createWatcher(request: WatchRequest): Watcher {
    return new Watcher({
      request,
      host: this.#host,
      startedAt: this.context.clock.now(),
      sent: this.#sentAs(request.apiVersion),
    });
  }

  #createHost(): WatcherHost {
    const { limits, scheduler } = this.context;
    return {
      scheduler,
      queueFramesMax: limits.watcherQueueFramesMax,
      queueBytesMax: limits.watcherQueueBytesMax,
      overflowed: (slow) => {
        this.end(slow, 'slow');
      },
      failed: (failing, error) => {
        const { client } = failing.request;
        this.context.log.error(
          { resource: this.resource.name, client, representation: failing.representation.id, error },
          'A watch ends because an event cannot be encoded for it',
        );
        this.end(failing, 'unavailable');
      },
    };
  }

  #sentAs(apiVersion: string): SentCounter {
    let counter = this.#sent.get(apiVersion);
    if (counter === undefined) {
      counter = { frames: 0 };
      this.#sent.set(apiVersion, counter);
    }
    return counter;
  }

  #bookmark(representation: Representation): Buffer {
    const { revision } = this;
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
    return new StatusError('Expired', `too old resource version: ${from} (${this.oldestWatchable})`);
  }
}
