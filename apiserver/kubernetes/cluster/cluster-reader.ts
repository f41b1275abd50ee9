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

/** How plugins read other objects, in their stored versions. Results must not be changed. */
export interface ClusterReader {
  /** Returns the object from the watch cache, or as this server wrote it a moment ago. */
  get<T extends ApiObject>(resource: ResourceName<T>, name: string, namespace?: string): T | undefined;
  /** Returns a guard that makes a write depend on this unchanged cluster-scoped object. */
  guardOf(resource: ResourceName, object: ApiObject): Guard;
  /** Returns all objects, or those of one namespace, ordered by name. */
  list<T extends ApiObject>(resource: ResourceName<T>, namespace?: string): readonly T[];
  /** Returns the names of the objects of a namespace, in order. Unlike `list` it parses nothing. */
  names(resource: ResourceName, namespace: string): readonly string[];
  /**
   * Waits until the cache is as fresh as a read index taken now and no resource that was read is being refilled. Throws Timeout (504).
   */
  freshen(signal: AbortSignal): Promise<void>;
}

/** A reader that knows how fresh its answers were. */
export interface Reading extends ClusterReader {
  /** Reports whether something was read before `freshen`. */
  isStale(): boolean;
  /** Reports whether a read may be older than {@link UNCONFIRMED_MS_MAX}: too old even to admit. */
  isOutdated(): boolean;
}

const RETRY_AFTER_SECONDS = 1;
/**
 * How long a cache is trusted without a confirmation that it follows the store. A replica with a stalled feed would otherwise admit by
 * outdated limits and accounts. Costs at most one small read in this time.
 */
export const UNCONFIRMED_MS_MAX = 1_000;

/** Creates a reader for each decision. Each version of an object is parsed once, on first use. */
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
  /** Resources that were read while they were being refilled. */
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

  names(resource: ResourceName, namespace: string): readonly string[] {
    const found = this.#cacheOf(resource);
    return found === undefined
      ? []
      : Array.from(found.cache.snapshot().entriesOf(namespace), ({ name }) => name);
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
    throw serviceUnavailable(`admission waits for ${stored.name} to be refilled`, RETRY_AFTER_SECONDS);
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
