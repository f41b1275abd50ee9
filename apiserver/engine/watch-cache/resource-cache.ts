import { untilAborted } from '../../../shared/concurrency/abort';
import type { StoreEvent, StoredRecord } from '../storage/backend';
import type { CacheOwner, CacheServices } from './context';
import type { CachedResource, Entry } from './state/entry';
import type { Ring } from './state/ring';
import type { Snapshot } from './state/snapshot';
import type { SnapshotOwner } from './state/snapshot-budget';
import { ResourceState } from './state/resource-state';
import { ResourceWatches } from './fan-out/resource-watches';
import type { ResourceStats } from './stats';
import type { WatchRequest } from './fan-out/watch-request';
import { WatchIterator } from './fan-out/watch-iterator';
import type { WatchedState } from './fan-out/watch-stream';

/** Notified of a change in the same synchronous step, so that a caller that waits for its revision sees the result. Must not throw. */
export interface CacheListener {
  /** The object below the key changed, or was deleted (undefined). */
  changed(key: string, current: Entry | undefined): void;
  /** All objects were refilled from the store. */
  filled(): void;
}

/**
 * The cache of one resource. Reads are synchronous and see whole revisions, never a state between two. Only the cluster cache calls the
 * methods under "For the cluster cache".
 */
export class ResourceCache implements WatchedState, SnapshotOwner {
  readonly resource: CachedResource;
  readonly services: CacheServices;
  readonly owner: CacheOwner;
  readonly watches: ResourceWatches;
  #state: ResourceState;
  #isReady = false;
  readonly #readyWaiters = new Set<() => void>();
  readonly #followers: CacheListener[] = [];

  constructor(resource: CachedResource, services: CacheServices, owner: CacheOwner) {
    this.resource = resource;
    this.services = services;
    this.owner = owner;
    this.watches = new ResourceWatches(this);
    this.#state = new ResourceState(resource, services, 0);
  }

  /** False during a fill; objects must then be read from the store. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** The newest revision whose effect is in the cache. */
  get revision(): number {
    return this.owner.revision();
  }

  /** A watch that starts after this revision or a later one is served from the ring buffer. */
  get oldestWatchable(): number {
    return this.#state.ring.floor;
  }

  get ring(): Ring {
    return this.#state.ring;
  }

  /** The number of objects, and their bytes. */
  get size(): { readonly objects: number; readonly bytes: number } {
    return { objects: this.#state.size, bytes: this.#state.slabs.liveBytes };
  }

  get departedBytes(): number {
    return this.#state.departedBytes;
  }

  /** The current object under a key relative to the resource: `<namespace>/<name>` or `<name>`. */
  get(key: string): Entry | undefined {
    return this.#state.get(key);
  }

  /** A copy-on-write snapshot of the current state, in constant time. Calls between two changes share one. */
  snapshot(): Snapshot {
    return this.#state.snapshot(this.revision);
  }

  /**
   * A superset of the objects that have all of these labels, in key order, from an index; undefined when no index applies and the caller
   * has to scan.
   */
  byLabels(equals: readonly (readonly [label: string, value: string])[]): readonly Entry[] | undefined {
    return this.#state.byLabels(equals);
  }

  /** Retains a snapshot for later pages of a list, within the budget. Ignores a snapshot from before a rebuild. */
  retain(snapshot: Snapshot): void {
    if (!this.#state.owns(snapshot)) return;
    const validFrom = snapshot.revision >= this.#state.changedAt ? this.#state.changedAt : snapshot.revision;
    this.services.snapshots.retain(this, { snapshot, validFrom, now: this.services.clock.now() });
  }

  /** The state of exactly this revision, if it is in memory: current, retained, or rebuilt by undoing events of the ring buffer. */
  async snapshotAt(revision: number): Promise<Snapshot | undefined> {
    if (!this.#isReady || revision > this.revision) return undefined;
    if (revision >= this.#state.changedAt) return this.snapshot().at(revision);
    const retained = this.services.snapshots.find(this, revision);
    if (retained !== undefined) return retained.at(revision);
    return this.#state.rewind(revision, this.services.limits.undoEventsMax);
  }

  /**
   * Streams one watch; see {@link WatchRequest}. It starts with the first `next`. Lost history is an ERROR frame with Status 410; the
   * iteration never throws. The caller closes it when the client disconnects, or aborts `signal`.
   */
  watch(request: WatchRequest, signal: AbortSignal): WatchIterator {
    return new WatchIterator(() => (signal.aborted ? undefined : this.watches.begin(request, signal)));
  }

  /** Resolves when the resource is filled. Requests the fill if the cache fills on demand. */
  async whenReady(signal: AbortSignal): Promise<void> {
    if (this.#isReady) return;
    this.owner.requestFill(this.resource.keyPrefix);
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
      objects: this.#state.size,
      objectBytes: this.#state.slabs.liveBytes,
      slabBytes: this.#state.slabs.allocatedBytes,
      ringEvents: this.ring.size,
      ringBytes: this.ring.bytes,
      oldestWatchable: this.oldestWatchable,
      ...this.watches.stats(),
      isReady: this.#isReady,
      readyWaiters: this.#readyWaiters.size,
    };
  }

  /** Subscribes for the lifetime of the cache. */
  follow(listener: CacheListener): void {
    this.owner.requestFill(this.resource.keyPrefix);
    this.#followers.push(listener);
  }

  // For the cluster cache.

  /** Drops the state and ends every watch with 410. `revision` is that of the new fill. */
  beginFill(revision: number): void {
    this.#isReady = false;
    this.watches.expire();
    this.services.snapshots.forget(this);
    this.#state.close();
    this.#state = new ResourceState(this.resource, this.services, revision);
  }

  load(key: string, record: StoredRecord): void {
    const entry = this.#state.decode(record, key, record.revision);
    if (entry !== undefined) this.#state.load(entry);
  }

  endFill(): void {
    this.#isReady = true;
    for (const listener of this.#followers) listener.filled();
    for (const wake of this.#readyWaiters) wake();
    this.#readyWaiters.clear();
  }

  /** Applies one event of the store and dispatches it to matching watchers. */
  apply(key: string, stored: StoreEvent, revision: number): void {
    this.services.counters.events += 1;
    const current = stored.type === 'put' ? this.#state.decode(stored, key, revision) : undefined;
    const event = this.#state.apply(key, current, revision);
    if (event === undefined) return;
    this.watches.dispatch(event);
    for (const listener of this.#followers) listener.changed(key, current);
  }

  /** Drops old events, snapshots and indexes, and sends due bookmarks. */
  sweep(now: number): void {
    this.ring.trim(now);
    this.#state.dropIdleSnapshot();
    this.#state.trimIndexes(now);
    if (this.#isReady) this.watches.sendBookmarks(now);
  }

  /** Ends all watches: the resource is no longer served. */
  close(): void {
    this.watches.close();
    this.services.snapshots.forget(this);
    this.#state.close();
    this.#isReady = false;
  }
}
