import { serviceUnavailable, timeout } from '../../../shared/errors/status-error';
import type { ApiObject } from '../../../shared/object/object';
import type { ReadContext } from '../../engine/registry/read-context';
import { absoluteKey, lastSeen } from '../../engine/registry/current';
import type { Registry } from '../../engine/registry/registry';
import type { StoredResource } from '../../engine/registry/resource';
import { relativeKey } from '../../engine/registry/resource';
import { currentOfEntry } from '../../engine/registry/stored-form';
import type { Guard } from '../../engine/storage/backend';
import type { Entry } from '../../engine/watch-cache/state/entry';
import type { ResourceCache } from '../../engine/watch-cache/resource-cache';

/** A key for the type system alone; no value has it. */
declare const OBJECT: unique symbol;

/** A resource by its name, whatever the version. `T` is the type of its objects in the stored version. */
export interface ResourceName<out T extends ApiObject = ApiObject> {
  readonly group: string;
  readonly resource: string;
  readonly [OBJECT]?: T;
}

/** Reads objects in their stored versions from the watch cache. Callers must not change what it returns. */
export interface ClusterReader {
  /** Returns the object of the watch cache, or a newer one that this server has just written. */
  get<T extends ApiObject>(resource: ResourceName<T>, name: string, namespace?: string): T | undefined;
  /** Returns a guard that fails a write if this cluster-scoped object, which `get` returned, has changed. */
  guardOf(resource: ResourceName, object: ApiObject): Guard;
  /** Returns all objects, or those of one namespace, sorted by name. */
  list<T extends ApiObject>(resource: ResourceName<T>, namespace?: string): readonly T[];
  /**
   * Waits until the cache is as fresh as a read index taken now and the resources that were read are filled. Throws Timeout (504) when that
   * takes too long.
   */
  freshen(signal: AbortSignal): Promise<void>;
}

/** A reader for one decision, which records how fresh the objects it returned were. */
export interface Reading extends ClusterReader {
  /** Whether objects were read, and `freshen` was not called. */
  isStale(): boolean;
  /** Whether objects were read from a state that may be older than {@link UNCONFIRMED_MS_MAX}, which is too old even to admit. */
  isOutdated(): boolean;
}

const RETRY_AFTER_SECONDS = 1;
/**
 * How long a cache is trusted without confirmation that it still follows the store. Without this bound a replica with a stalled feed would
 * continue to admit by outdated limits, classes and accounts. The confirmation costs the store at most one small read in this time.
 */
export const UNCONFIRMED_MS_MAX = 1_000;

/** Creates a factory of readers, one for each decision. Each version of an object is decoded once, when it is first read. */
export function clusterReadings(registry: Registry, context: ReadContext): () => Reading {
  const storedByName = new Map(registry.stored.map((stored) => [keyOf(stored), stored]));
  const parsed = new WeakMap<Entry, ApiObject>();
  return () => new CacheReading(storedByName, parsed, context);
}

interface Found {
  readonly stored: StoredResource;
  readonly cache: ResourceCache;
}

class CacheReading implements Reading {
  readonly #storedByName: ReadonlyMap<string, StoredResource>;
  readonly #parsed: WeakMap<Entry, ApiObject>;
  readonly #context: ReadContext;
  /** The resources that were being refilled when they were read. */
  #filling: Set<ResourceCache> | undefined;
  #hasRead = false;
  #isFresh = false;

  constructor(
    storedByName: ReadonlyMap<string, StoredResource>,
    parsed: WeakMap<Entry, ApiObject>,
    context: ReadContext,
  ) {
    this.#storedByName = storedByName;
    this.#parsed = parsed;
    this.#context = context;
  }

  isStale(): boolean {
    return this.#hasRead && !this.#isFresh;
  }

  isOutdated(): boolean {
    return this.isStale() && !this.#context.cache.isConfirmedWithin(UNCONFIRMED_MS_MAX);
  }

  get<T extends ApiObject>(resource: ResourceName<T>, name: string, namespace = ''): T | undefined {
    const found = this.#cacheOf(resource);
    if (found === undefined) return undefined;
    return lastSeen(this.#context, found, relativeKey(found.stored, namespace, name))?.object as
      T | undefined;
  }

  guardOf(resource: ResourceName, { metadata }: ApiObject): Guard {
    const stored = this.#storedByName.get(keyOf(resource));
    if (stored === undefined) throw new Error(`resource ${keyOf(resource)} is not stored`);
    const key = absoluteKey(this.#context, { stored }, relativeKey(stored, '', metadata.name ?? ''));
    return { key, revision: Number(metadata.resourceVersion) };
  }

  list<T extends ApiObject>(resource: ResourceName<T>, namespace?: string): readonly T[] {
    const found = this.#cacheOf(resource);
    if (found === undefined) return [];
    const snapshot = found.cache.snapshot();
    const entries = namespace === undefined ? snapshot.entries() : snapshot.entriesOf(namespace);
    return Array.from(entries, (entry) => this.#objectOf(found.stored, entry) as T);
  }

  async freshen(signal: AbortSignal): Promise<void> {
    const { cache, cacheWaitMs: timeoutMs } = this.#context;
    const of = [...(this.#filling ?? [])];
    if ((await cache.freshen({ of, timeoutMs, refill: 'wait' }, signal)) === 'behind') {
      throw timeout('admission waits for a cache that is behind the store', RETRY_AFTER_SECONDS);
    }
    this.#isFresh = true;
  }

  #cacheOf(resource: ResourceName): Found | undefined {
    this.#hasRead = true;
    const stored = this.#storedByName.get(keyOf(resource));
    if (stored === undefined) return undefined;
    const cache = this.#context.cache.resource(stored.keyPrefix);
    if (cache.isReady) return { stored, cache };
    (this.#filling ??= new Set()).add(cache);
    throw serviceUnavailable(`admission waits for ${stored.name} to be read anew`, RETRY_AFTER_SECONDS);
  }

  #objectOf(stored: StoredResource, entry: Entry): ApiObject {
    const known = this.#parsed.get(entry);
    if (known !== undefined) return known;
    const { object } = currentOfEntry(stored, entry);
    this.#parsed.set(entry, object);
    return object;
  }
}

function keyOf({ group, resource }: ResourceName): string {
  return `${group}/${resource}`;
}
