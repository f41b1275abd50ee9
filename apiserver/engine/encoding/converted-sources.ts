import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { untilAborted } from '../../../shared/concurrency/abort';
import { forEachLimited } from '../../../shared/concurrency/for-each-limited';
import { Slices } from '../../../shared/concurrency/slices';
import type { ApiObject } from '../../../shared/object/object';
import type { CustomStorage, Endpoint } from '../registry/resource';
import { storedVersionOf } from '../registry/resource';
import { EncodedCache, PROCESS_BUDGET } from './encoded-cache';
import type { ObjectEncoder } from './object-encoder';
import type { Source } from './source';
import { bytesOf, parseSource } from './source';

/** Converted entries, by entry. */
const CONVERTED_BY_ENTRY = new EncodedCache<Source>(PROCESS_BUDGET, ({ bytes }) => bytes.length);

/**
 * Recently converted objects, by content: the frames of a watch have no entry, and every watcher converts the same
 * ones.
 */
const LATELY_BYTES_MAX = 32 * 1024 * 1024;
/** Size of a pending conversion in the cache. */
const UNDER_WAY_BYTES = 4 * 1024;

/** The size of one ConversionReview, and the concurrent reviews of one list. */
const BATCH_BYTES_MAX = 128 * 1024;
const BATCH_OBJECTS_MAX = 250;
const BATCHES_AT_ONCE = 4;

type Converted = Source | Promise<Source>;

const recentConversions = new LRUCache<string, Converted>({
  maxSize: LATELY_BYTES_MAX,
  sizeCalculation: (value) => (value instanceof Promise ? UNDER_WAY_BYTES : value.bytes.length + 1),
});

/** Conversions are single-flight, so no caller can cancel one. The timeout of the webhook limits it. */
const NEVER = new AbortController().signal;

/** Returns whether the encoder may need a conversion webhook. */
export function needsConversion({ stored, row }: Endpoint, { showsMetadata }: ObjectEncoder): boolean {
  if (stored.custom?.converts !== true) return false;
  // Metadata in the stored version is returned as stored, whatever the webhook’s state.
  return showsMetadata !== true || row.version !== row.hub.version;
}

/**
 * Converts sources to the endpoint’s version, in order. Cached conversions are used; the rest is converted in
 * batches, single-flight, and cached by entry. Throws InternalError (500) if a conversion fails, and the reason of
 * the signal.
 */
export async function convertedSources(
  endpoint: Endpoint,
  sources: readonly Source[],
  signal: AbortSignal,
): Promise<readonly Source[]> {
  const { custom, stored, apiVersion } = endpoint;
  const storage = stored.custom;
  if (custom === undefined || storage?.converts !== true) return sources;
  const slices = new Slices();
  const found: Converted[] = [];
  const work: Work = { endpoint, storage, id: custom.id, missing: [] };
  for (const source of sources) {
    const isThere = source.isShown === true || storedVersionOf(stored, source.fields) === apiVersion;
    found.push(isThere ? source : lookUp(work, source));
    if (slices.due()) await slices.pause();
  }
  if (work.missing.length > 0) void convertMissing(work);
  const results: Source[] = [];
  for (const [index, each] of found.entries()) {
    const result = each instanceof Promise ? await untilAborted(each, signal) : each;
    const source = sources[index];
    if (source !== undefined && source !== result && source.transient !== true) {
      CONVERTED_BY_ENTRY.get(source, work.id, () => result);
    }
    results.push(result);
  }
  return results;
}

interface Missing {
  readonly key: string;
  readonly source: Source;
  readonly resolve: (source: Source) => void;
  readonly reject: (error: unknown) => void;
}

interface Work {
  readonly endpoint: Endpoint;
  readonly storage: CustomStorage;
  readonly id: string;
  /** Objects without a pending conversion. */
  readonly missing: Missing[];
}

function lookUp({ endpoint: { stored }, id, missing }: Work, source: Source): Converted {
  const beside = source.transient === true ? undefined : CONVERTED_BY_ENTRY.peek(source, id);
  if (beside !== undefined) return beside;
  const from = storedVersionOf(stored, source.fields);
  const key = createHash('sha256').update(`${id} ${from}\n`).update(source.bytes).digest('base64');
  const known = recentConversions.get(key);
  if (known !== undefined) return known;
  const promise = new Promise<Source>((resolve, reject) => {
    missing.push({ key, source, resolve, reject });
  });
  // The callers may all have aborted.
  promise.catch(() => undefined);
  recentConversions.set(key, promise);
  return promise;
}

/** Converts all missing objects and settles their promises. */
async function convertMissing({ endpoint, storage, missing }: Work): Promise<void> {
  await forEachLimited(batchesOf(missing), BATCHES_AT_ONCE, async (batch) => {
    try {
      await convertBatch(endpoint, storage, batch);
    } catch (error) {
      // The next caller retries.
      for (const { key, reject } of batch) {
        if (recentConversions.peek(key) instanceof Promise) recentConversions.delete(key);
        reject(error);
      }
    }
  });
}

async function convertBatch(
  { stored, apiVersion, type }: Endpoint,
  storage: CustomStorage,
  batch: readonly Missing[],
): Promise<void> {
  const slices = new Slices();
  const objects: ApiObject[] = [];
  for (const { source } of batch) {
    const from = storedVersionOf(stored, source.fields);
    objects.push(parseSource(source, { kind: stored.kind, apiVersion: from }));
    if (slices.due()) await slices.pause();
  }
  const shown = await storage.readAll(objects, apiVersion, NEVER);
  for (const [index, { key, resolve }] of batch.entries()) {
    const object = shown[index];
    if (object === undefined) throw new Error('a conversion has lost an object');
    const source: Source = { bytes: bytesOf(object, type), fields: { apiVersion }, isShown: true };
    recentConversions.set(key, source);
    resolve(source);
    if (slices.due()) await slices.pause();
  }
}

/**
 * Splits the objects into batches, in order, small enough to parse an answer in few milliseconds. A larger object has
 * a batch of its own.
 */
function* batchesOf(missing: readonly Missing[]): Generator<readonly Missing[]> {
  let batch: Missing[] = [];
  let bytes = 0;
  for (const each of missing) {
    const { length } = each.source.bytes;
    if (batch.length >= BATCH_OBJECTS_MAX || (batch.length > 0 && bytes + length > BATCH_BYTES_MAX)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(each);
    bytes += length;
  }
  if (batch.length > 0) yield batch;
}
