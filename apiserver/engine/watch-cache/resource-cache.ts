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

  /** False while the resource is being filled; its objects must then be read from the store. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** The newest revision whose effect is in the cache. */
  get revision(): number {
    return this.owner.revision();
  }

  /** A watch that starts after this revision, or a later one, is served from memory. */
  get oldestWatchable(): number {
    return this.#state.ring.floor;
  }

  get ring(): Ring {
    return this.#state.ring;
  }

  /** How many objects there are, and their bytes. */
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

  /** The current state. Constant time; shared by all who ask before the next change. */
  snapshot(): Snapshot {
    return this.#state.snapshot(this.revision);
  }

  /**
   * Objects of the current state that may have all of these labels, in key order, and at least those that have; undefined when there
   * is no index that helps: then all have to be looked at.
   */
  byLabels(equals: readonly (readonly [label: string, value: string])[]): readonly Entry[] | undefined {
    return this.#state.byLabels(equals);
  }

  /** Keeps a snapshot for later pages of a list, as long as budgets allow; not one from before the cache was built anew. */
  retain(snapshot: Snapshot): void {
    if (!this.#state.owns(snapshot)) return;
    const validFrom = snapshot.revision >= this.#state.changedAt ? this.#state.changedAt : snapshot.revision;
    this.services.snapshots.retain(this, { snapshot, validFrom, now: this.services.clock.now() });
  }

  /** The state of exactly this revision, if memory still has it: current, retained, or by undoing the ring's events. */
  async snapshotAt(revision: number): Promise<Snapshot | undefined> {
    if (!this.#isReady || revision > this.revision) return undefined;
    if (revision >= this.#state.changedAt) return this.snapshot().at(revision);
    const retained = this.services.snapshots.find(this, revision);
    if (retained !== undefined) return retained.at(revision);
    return this.#state.rewind(revision, this.services.limits.undoEventsMax);
  }

  /**
   * Streams one watch; see {@link WatchRequest}. Nothing happens before the first `next`. A lost window is an ERROR frame with
   * Status 410; the iteration itself never throws. To be closed when the client leaves, or `signal` aborted.
   */
  watch(request: WatchRequest, signal: AbortSignal): WatchIterator {
    return new WatchIterator(() => (signal.aborted ? undefined : this.watches.begin(request, signal)));
  }

  /** Resolves at once, or at the next moment at which the resource is filled. */
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

  /** The listener lives as long as the cache. */
  follow(listener: CacheListener): void {
    this.owner.requestFill(this.resource.keyPrefix);
    this.#followers.push(listener);
  }

  // For the cluster cache.

  /** Forgets everything and ends every watch with 410: what follows is a new state. `revision` is that of the fill to come. */
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

  /** Applies one event of the store and hands it to the watchers it concerns. */
  apply(key: string, stored: StoreEvent, revision: number): void {
    this.services.counters.events += 1;
    const current = stored.type === 'put' ? this.#state.decode(stored, key, revision) : undefined;
    const event = this.#state.apply(key, current, revision);
    if (event === undefined) return;
    this.watches.dispatch(event);
    for (const listener of this.#followers) listener.changed(key, current);
  }

  /** Drops what is too old and sends the bookmarks that are due. */
  sweep(now: number): void {
    this.ring.trim(now);
    this.#state.dropIdleSnapshot();
    this.#state.trimIndexes(now);
    if (this.#isReady) this.watches.sendBookmarks(now);
  }

  /** The resource is not served any more. */
  close(): void {
    this.watches.close();
    this.services.snapshots.forget(this);
    this.#state.close();
    this.#isReady = false;
  }
}
