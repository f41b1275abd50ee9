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
 * The state of one resource: its objects, the slabs with their bytes and the ring of recent events. It is made empty, loaded at one
 * revision, and from then on changed by events only; a rebuild makes a new one.
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

  /** `revision` is that of the state which will be loaded; the ring begins there. */
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

  /** Decodes a value as the store has it; undefined, told to log and counter, when that is impossible. */
  decode(stored: StoredValue, key: string, revision: number): CacheEntry | undefined {
    return decodeStored(this.resource, this.#services, stored, { key, revision, slabs: this.slabs });
  }

  /** Applies one change. Undefined when the cache does not change by it: a deletion of what it never held. */
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
   * Objects of the newest state that may have all of these labels, in key order, and at least those that have; undefined when there is
   * no index that helps.
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

  /** Gives up indexes nobody uses. */
  trimIndexes(now: number): void {
    this.#labels.trim(now);
  }

  /** Takes constant time, and none at all when nothing changed since the last call. */
  snapshot(revision: number): Snapshot {
    let newest = this.#newest;
    if (newest === undefined || newest.revision < this.#changedAt) {
      newest = new Snapshot(revision, this.#tree.clone());
    } else if (newest.revision !== revision) newest = newest.at(revision);
    this.#newest = newest;
    return newest;
  }

  /** Whether the snapshot is one of this state's, now or in the past. */
  owns(snapshot: Snapshot): boolean {
    return snapshot.isOf(this.#tree);
  }

  /**
   * The state of a past revision, made by undoing the events since; undefined when the ring does not reach back or there are more
   * than `undoEventsMax` of them.
   */
  async rewind(revision: number, undoEventsMax: number): Promise<Snapshot | undefined> {
    if (revision < this.ring.floor) return undefined;
    const first = this.ring.positionAfter(revision);
    const { end } = this.ring;
    if (end - first > undoEventsMax) return undefined;
    // Both are of this moment; what happens between the slices concerns neither.
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

  /** The snapshot that is only a by-product is not worth pinning old bytes for. */
  dropIdleSnapshot(): void {
    if (this.#newest !== undefined && this.#newest.revision < this.#changedAt) this.#newest = undefined;
  }

  /** The state is not used any more. */
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
