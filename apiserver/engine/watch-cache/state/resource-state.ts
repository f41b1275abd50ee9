import type { CachedResource, Entry } from './entry';
import type { CacheServices } from '../context';
import type { StoredValue } from '../../storage/backend';
import { decodeStored } from './decode-stored';
import type { CacheEntry } from './entry-codec';
import { CacheEvent } from './event';
import { compareKeys } from '../../../../shared/meta/key-order';
import { LabelIndexes } from './label-index';
import { ObjectTree } from './object-tree';
import { Ring } from './ring';
import { Slabs } from './slab';
import { Slices } from '../../../../shared/concurrency/slices';
import { Snapshot } from './snapshot';

/**
 * The state of one resource: its objects, the slabs with their bytes, and the ring buffer of recent events. It is loaded at one revision
 * and then changed by events only; a rebuild creates a new one.
 */
export class ResourceState {
  readonly resource: CachedResource;
  readonly slabs = new Slabs();
  readonly ring: Ring;
  readonly #labels: LabelIndexes;
  readonly #services: CacheServices;
  readonly #tree: ObjectTree;
  #changedAt: number;
  #departedBytes = 0;
  #newest: Snapshot | undefined;

  /** `revision` is that of the state to be loaded; the ring buffer begins there. */
  constructor(resource: CachedResource, services: CacheServices, revision: number) {
    this.resource = resource;
    this.#services = services;
    this.#tree = ObjectTree.create(resource.indexedFields);
    this.#changedAt = revision;
    const tree = this.#tree;
    this.#labels = new LabelIndexes({
      get size() {
        return tree.size;
      },
      get: (key) => tree.get(key),
      entries: () => tree.clone().entries(),
    });
    this.ring = new Ring(revision, {
      windowMs: services.limits.ringWindowMs,
      eventsMax: services.limits.ringEventsMax,
      budget: services.rings,
      dropped: (event) => {
        this.#forget(event);
      },
    });
  }

  get size(): number {
    return this.#tree.size;
  }

  /** The revision of the newest change, or that of the fill. */
  get changedAt(): number {
    return this.#changedAt;
  }

  get departedBytes(): number {
    return this.#departedBytes;
  }

  get(key: string): Entry | undefined {
    return this.#tree.get(key);
  }

  /** Adds one object of the fill. */
  load(entry: Entry): void {
    this.#tree.set(entry, undefined);
  }

  /** Decodes a stored value; undefined, logged and counted, if it cannot be decoded. */
  decode(stored: StoredValue, key: string, revision: number): CacheEntry | undefined {
    return decodeStored(this.resource, this.#services, stored, { key, revision, slabs: this.slabs });
  }

  /** Applies one change. Undefined for the deletion of an unknown object, which changes nothing. */
  apply(key: string, current: Entry | undefined, revision: number): CacheEvent | undefined {
    const previous = this.#tree.get(key);
    if (current !== undefined) this.#tree.set(current, previous);
    else if (previous !== undefined) this.#tree.delete(previous);
    else return undefined;
    this.#labels.apply(current, previous);
    this.#changedAt = revision;
    const now = this.#services.clock.now();
    const event = new CacheEvent({ revision, current, previous }, now, this.#services.derived);
    this.ring.append(event);
    this.ring.trim(now, revision);
    return event;
  }

  /**
   * A superset of the objects that have all of these labels, in key order; undefined when no index applies.
   */
  byLabels(equals: readonly (readonly [label: string, value: string])[]): readonly Entry[] | undefined {
    if (equals.length === 0) return undefined;
    const keys = this.#labels.find(equals, this.#services.clock.now());
    if (keys === undefined) return undefined;
    return keys
      .toSorted(compareKeys)
      .map((key) => this.#tree.get(key))
      .filter((entry) => entry !== undefined);
  }

  /** Drops idle indexes. */
  trimIndexes(now: number): void {
    this.#labels.trim(now);
  }

  /** A copy-on-write snapshot, in constant time. Reuses the last one if nothing changed since. */
  snapshot(revision: number): Snapshot {
    let newest = this.#newest;
    if (newest === undefined || newest.revision < this.#changedAt) {
      newest = new Snapshot(revision, this.#tree.clone());
    } else if (newest.revision !== revision) newest = newest.at(revision);
    this.#newest = newest;
    return newest;
  }

  /** Whether the snapshot was taken of this state. */
  owns(snapshot: Snapshot): boolean {
    return snapshot.isOf(this.#tree);
  }

  /**
   * The state of a past revision, by undoing the later events; undefined when the ring buffer does not reach back that far, or there are
   * more than `undoEventsMax` events.
   */
  async rewind(revision: number, undoEventsMax: number): Promise<Snapshot | undefined> {
    if (revision < this.ring.floor) return undefined;
    const first = this.ring.positionAfter(revision);
    const { end } = this.ring;
    if (end - first > undoEventsMax) return undefined;
    // Both are copies of this moment; changes between the slices do not affect them.
    const tree = this.#tree.clone();
    const events = Array.from({ length: end - first }, (_, back) => this.ring.at(end - 1 - back));
    const slices = new Slices();
    for (const event of events) {
      if (slices.due()) await slices.pause();
      if (event === undefined) return undefined;
      if (event.previous !== undefined) tree.set(event.previous, event.current);
      else if (event.current !== undefined) tree.delete(event.current);
    }
    return new Snapshot(revision, tree);
  }

  /** Drops an outdated shared snapshot, which would keep old bytes in memory. */
  dropIdleSnapshot(): void {
    if (this.#newest !== undefined && this.#newest.revision < this.#changedAt) this.#newest = undefined;
  }

  /** Releases the budgets of a state that is no longer used. */
  close(): void {
    this.#labels.close();
    this.ring.close();
    for (let at = this.ring.end - this.ring.size; at < this.ring.end; at += 1) {
      const event = this.ring.at(at);
      if (event !== undefined) this.#services.derived.release(event);
    }
  }

  #forget(event: CacheEvent): void {
    this.#services.derived.release(event);
    const { previous } = event;
    if (previous === undefined) return;
    this.#departedBytes += previous.bytes.length;
    this.slabs.release(previous as CacheEntry);
  }
}
