import { keepJsonWithin, keepStoredWithin } from '../request/loop-bounds';
import type { ReadContext } from './read-context';
import type { LoopBounds } from '../request/loop-bounds';
import type { StoredRecord } from '../storage/backend';
import type { Endpoint } from './resource';
import { currentOfEntry, currentOfRecord, isOfEntry } from './stored-form';
import type { Current } from './write';

/**
 * Reads the object at least as fresh as a read index requested now: from the cache once it has caught up,
 * else from the store.
 */
export async function readFresh(
  context: ReadContext,
  endpoint: Endpoint,
  key: string,
  signal: AbortSignal,
): Promise<Current | undefined> {
  const { cache, cacheWaitMs: timeoutMs } = context;
  const cached = cache.resource(endpoint.stored.keyPrefix);
  const freshness = await cache.freshen({ of: [cached], timeoutMs, refill: 'behind' }, signal);
  if (freshness === 'fresh' && cached.isReady) {
    return currentFromCache(context, endpoint, key);
  }
  return readStored(context, endpoint, key, signal);
}

/** Reads the object from the store, which also knows whether the record is stale. */
export async function readStored(
  context: ReadContext,
  endpoint: Endpoint,
  key: string,
  signal: AbortSignal,
): Promise<Current | undefined> {
  const { record } = await context.backend.get(absoluteKey(context, endpoint, key), signal);
  return record === undefined ? undefined : currentWithin(context, endpoint, record);
}

/** Decodes a record of the store. Throws TooLargeHereError beyond the bounds. */
export function currentWithin(
  { bounds }: ReadContext,
  { stored }: Pick<Endpoint, 'stored'>,
  record: StoredRecord,
): Current {
  keepStoredWithin(bounds, record.value.length);
  return within(bounds, currentOfRecord(stored, record));
}

/** Bytes of the resourceVersion, which is not stored. */
const VERSION_BYTES_MAX = 64;

function within(bounds: LoopBounds | undefined, current: Current): Current {
  keepJsonWithin(bounds, current.object, current.plain.length + VERSION_BYTES_MAX);
  return current;
}

/** Reads the object from the cache. Throws TooLargeHereError beyond the bounds. */
export function currentFromCache(
  context: ReadContext,
  endpoint: Pick<Endpoint, 'stored'>,
  key: string,
): Current | undefined {
  const { stored } = endpoint;
  const { recent } = context.cache;
  const entry = context.cache.resource(stored.keyPrefix).get(key);
  if (entry === undefined) return undefined;
  const absolute = absoluteKey(context, endpoint, key);
  const { bounds } = context;
  keepStoredWithin(bounds, entry.bytes.length);
  const known = recent.get(absolute);
  if (known !== undefined && isOfEntry(known, entry)) return within(bounds, known);
  const current = currentOfEntry(stored, entry);
  recent.read(absolute, current);
  return within(bounds, current);
}

/**
 * How long recent writes of this server are remembered, in milliseconds, until the cache has them. Too short
 * for a restored store to reach the same revision again.
 */
const CACHE_LAG_MS = 1_000;

/** The same, but a recent write of this server counts before the cache has received it. */
export function lastSeen(
  context: ReadContext,
  endpoint: Pick<Endpoint, 'stored'>,
  key: string,
): Current | undefined {
  const absolute = absoluteKey(context, endpoint, key);
  const written = context.cache.recent.writtenSince(absolute, context.clock.now() - CACHE_LAG_MS);
  const { revision } = context.cache.resource(endpoint.stored.keyPrefix);
  if (written === undefined || written.revision <= revision) return currentFromCache(context, endpoint, key);
  keepStoredWithin(context.bounds, written.plain.length);
  return within(context.bounds, written);
}

export function absoluteKey(context: ReadContext, endpoint: Pick<Endpoint, 'stored'>, key: string): string {
  return `${context.prefix}/${endpoint.stored.keyPrefix}${key}`;
}
