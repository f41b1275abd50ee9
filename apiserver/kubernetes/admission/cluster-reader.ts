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
import type { ResourceName } from './plugin';

/** How plugins see other objects, in their stored versions. Nobody may change what it returns. */
export interface ClusterReader {
  /** The object, as the watch cache has it, or as this server wrote it a moment ago. */
  get<T extends ApiObject>(resource: ResourceName<T>, name: string, namespace?: string): T | undefined;
  /** For a write that relies on this object of the whole cluster, which `get` returned, to stay as it is. */
  guardOf(resource: ResourceName, object: ApiObject): Guard;
  /** All objects, or those of one namespace, in the order of their names. */
  list<T extends ApiObject>(resource: ResourceName<T>, namespace?: string): readonly T[];
  /**
   * Waits until the cache is as fresh as a read index taken now, and what was read from it is not being filled anew; throws Timeout
   * (504) when that takes too long.
   */
  freshen(signal: AbortSignal): Promise<void>;
}

/** A reader that remembers what its answers were worth. */
export interface Reading extends ClusterReader {
  /** Something was read, and not after `freshen`. */
  isStale(): boolean;
  /** Something was read of a state that may be older than {@link UNCONFIRMED_MS_MAX}: then it is not even good enough to admit. */
  isOutdated(): boolean;
}

const RETRY_AFTER_SECONDS = 1;
/**
 * For so long a cache is believed without a sign that it still follows the store. A replica whose feed has stalled would else go on
 * admitting by limits, classes and accounts that have changed since. Where nothing else asks for a sign, it costs the store one small
 * read in this time.
 */
export const UNCONFIRMED_MS_MAX = 1_000;

/** Makes a reader for each decision. Objects are parsed once for each of their versions, when they are first looked at. */
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
  /** What was read while it was being filled anew. */
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
    if (stored === undefined) throw new Error(`nothing is stored as ${keyOf(resource)}`);
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
