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

/** What an entry is in another version, beside the entry. */
const CONVERTED_BY_ENTRY = new EncodedCache<Source>(PROCESS_BUDGET, ({ bytes }) => bytes.length);

/** What was converted lately, by its content: the frames of a watch come without their entries, to one watcher after the other. */
const LATELY_BYTES_MAX = 32 * 1024 * 1024;
/** What is being converted counts as this much. */
const UNDER_WAY_BYTES = 4 * 1024;

/** What is asked in one review, and how many reviews of one list are under way. */
const BATCH_BYTES_MAX = 128 * 1024;
const BATCH_OBJECTS_MAX = 250;
const BATCHES_AT_ONCE = 4;

type Converted = Source | Promise<Source>;

const recentConversions = new LRUCache<string, Converted>({
  maxSize: LATELY_BYTES_MAX,
  sizeCalculation: (value) => (value instanceof Promise ? UNDER_WAY_BYTES : value.bytes.length + 1),
});

/** A conversion belongs to nobody who asks for it: another one may wait for it too. The webhook's own time limits it. */
const NEVER = new AbortController().signal;

/** Whether some of what the encoder writes may have to be converted by a webhook. */
export function needsConversion({ stored, row }: Endpoint, { showsMetadata }: ObjectEncoder): boolean {
  if (stored.custom?.converts !== true) return false;
  // Who asks for metadata in the stored version has it as it is stored, whatever becomes of the webhook.
  return showsMetadata !== true || row.version !== row.hub.version;
}

/**
 * The sources in the endpoint's version, in their order. What is there already is taken as it is; the rest is converted in batches, once for
 * all who ask, and kept beside its entry. Throws InternalError (500) where one of them cannot be converted, and the signal's reason.
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
  /** What nobody converts yet. */
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
  // Whoever asked may have left.
  promise.catch(() => undefined);
  recentConversions.set(key, promise);
  return promise;
}

/** Settles all that is missing. */
async function convertMissing({ endpoint, storage, missing }: Work): Promise<void> {
  await forEachLimited(batchesOf(missing), BATCHES_AT_ONCE, async (batch) => {
    try {
      await convertBatch(endpoint, storage, batch);
    } catch (error) {
      // The next one who asks has it tried again.
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

/** In their order, each so large that its answer is parsed in few milliseconds. A larger object is asked about alone. */
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
