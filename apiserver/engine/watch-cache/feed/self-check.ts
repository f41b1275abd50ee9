import { sleep } from '../../../../shared/concurrency/abort';
import { withTimeLimit } from '../../../../shared/concurrency/time-limit';
import type { StoredRecord } from '../../storage/backend';
import { StorageError, valueOf } from '../../storage/backend';
import { inHubForm } from '../state/entry';
import { decodeEntry } from '../state/entry-codec';
import { compareKeys } from '../../../../shared/meta/key-order';
import type { ResourceCache } from '../resource-cache';

export interface Difference {
  /** Relative to the resource. */
  readonly key: string;
  /** The revision in the cache; undefined if the object is not cached. */
  readonly cached: number | undefined;
  readonly stored: number | undefined;
}

/** `skipped`: the resource is being filled, or the revision was compacted meanwhile. */
export type CheckResult =
  | { readonly outcome: 'equal' | 'skipped'; readonly objects: number }
  | { readonly outcome: 'different'; readonly objects: number; readonly first: Difference };

const PAGE_RECORDS = 500;
const PAGE_TIMEOUT_MS = 30_000;
/** The pause after a page, so that a check of everything costs the store and the loop little at any moment. */
const PACE_MS = 20;

/**
 * Compares a snapshot of one resource with the store at the same revision, page by page: all keys and the revisions of their last writes.
 * A stored value that cannot be decoded is not cached, and is no difference. Throws StorageError when the store does not answer.
 */
export async function checkResource(cache: ResourceCache, signal: AbortSignal): Promise<CheckResult> {
  if (!cache.isReady) return { outcome: 'skipped', objects: 0 };
  const snapshot = cache.snapshot();
  const entries = snapshot.entries();
  let entry = entries.next();
  let objects = 0;
  try {
    for await (const { key, revision } of storedKeys(cache, snapshot.revision, signal)) {
      objects += 1;
      if (entry.done !== true && compareKeys(entry.value.key, key) < 0) {
        const { key: only, revision: cached } = entry.value;
        return { outcome: 'different', objects, first: { key: only, cached, stored: undefined } };
      }
      if (entry.done === true || entry.value.key !== key) {
        if (!(await isDecodable(cache, key, signal))) continue;
        return { outcome: 'different', objects, first: { key, cached: undefined, stored: revision } };
      }
      if (entry.value.revision !== revision) {
        const first = { key, cached: entry.value.revision, stored: revision };
        return { outcome: 'different', objects, first };
      }
      entry = entries.next();
    }
  } catch (error) {
    if (error instanceof StorageError && error.code === 'compacted') return { outcome: 'skipped', objects };
    throw error;
  }
  if (entry.done === true) return { outcome: 'equal', objects };
  const { key, revision: cached } = entry.value;
  return { outcome: 'different', objects, first: { key, cached, stored: undefined } };
}

/** Keys relative to the resource, in order, at one revision. */
async function* storedKeys(
  cache: ResourceCache,
  revision: number,
  signal: AbortSignal,
): AsyncGenerator<Pick<StoredRecord, 'key' | 'revision'>> {
  const { backend } = cache.services;
  const prefix = prefixOf(cache);
  let after: string | undefined;
  for (;;) {
    const options = {
      revision,
      limit: PAGE_RECORDS,
      keysOnly: true,
      ...(after === undefined ? {} : { after }),
    };
    const page = await withTimeLimit(signal, PAGE_TIMEOUT_MS, async (inTime) =>
      backend.list(prefix, options, inTime),
    );
    for (const record of page.records)
      yield { key: record.key.slice(prefix.length), revision: record.revision };
    after = page.records.at(-1)?.key;
    if (page.remaining === 0 || after === undefined) return;
    await sleep(PACE_MS, signal);
  }
}

/** Decodes the newest value. True if the object was deleted meanwhile: the cache lacked it while it existed. */
async function isDecodable(cache: ResourceCache, key: string, signal: AbortSignal): Promise<boolean> {
  const { backend } = cache.services;
  const absolute = `${prefixOf(cache)}${key}`;
  const { record } = await backend.get(absolute, signal);
  if (record === undefined) return true;
  try {
    const plain = inHubForm(cache.resource, valueOf(record));
    decodeEntry(cache.resource, { key, plain, revision: record.revision });
    return true;
  } catch {
    return false;
  }
}

function prefixOf({ services, resource }: ResourceCache): string {
  return `${services.prefix}/${resource.keyPrefix}`;
}
