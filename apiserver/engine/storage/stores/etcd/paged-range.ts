import type { ListOptions, ListResult, StoredRecord } from '../../backend';
import { StorageError } from '../../backend';
import { keysBelow } from './keys';
import type { KeyValue, RangeRequest, RangeResponse } from './proto';
import { STATUS, TransportError } from '../../grpc/transport';

const PAGE_KEYS_MAX = 500;
/** After a larger page, the next one is half as long. */
const PAGE_BYTES_AIM = 8 * 1024 * 1024;

/**
 * Reads all keys below `prefix` in pages of at most 500, every page at the revision of the first. `range` makes one linearizable
 * call. A page that is refused for its size is tried again at half the length.
 */
export async function pagedRange(
  range: (request: RangeRequest) => Promise<RangeResponse>,
  prefix: string,
  options: ListOptions,
): Promise<ListResult> {
  const records: StoredRecord[] = [];
  const wanted = options.limit ?? Number.POSITIVE_INFINITY;
  let { revision, after } = options;
  if (revision !== undefined && revision < 1) {
    throw new StorageError('compacted', `Revision ${String(revision)} is before the first one.`);
  }
  if (wanted < 1) return countOnly(range, prefix, options);
  let pageKeys = PAGE_KEYS_MAX;
  for (;;) {
    const limit = Math.min(pageKeys, wanted - records.length);
    const request = {
      ...keysBelow(prefix, after),
      limit,
      ...(revision === undefined ? {} : { revision }),
      ...(options.keysOnly === true ? { keysOnly: true } : {}),
    };
    let page: RangeResponse;
    try {
      page = await range(request);
    } catch (error) {
      if (!isTooLarge(error) || limit === 1) throw error;
      pageKeys = Math.ceil(limit / 2);
      continue;
    }
    revision ??= page.header.revision;
    for (const kv of page.kvs) records.push(toRecord(kv));
    after = records.at(-1)?.key;
    const remaining = page.count - page.kvs.length;
    if (!page.more || records.length >= wanted) return { records, revision, remaining };
    if (bytesOf(page.kvs) > PAGE_BYTES_AIM) pageKeys = Math.ceil(limit / 2);
  }
}

/** The value points into its message: copy it to keep it for long. */
export function toRecord(kv: KeyValue): StoredRecord {
  return { key: kv.key.toString(), value: kv.value, revision: kv.modRevision };
}

async function countOnly(
  range: (request: RangeRequest) => Promise<RangeResponse>,
  prefix: string,
  { revision, after }: ListOptions,
): Promise<ListResult> {
  const at = revision === undefined ? {} : { revision };
  const page = await range({ ...keysBelow(prefix, after), countOnly: true, ...at });
  return { records: [], revision: revision ?? page.header.revision, remaining: page.count };
}

function bytesOf(kvs: readonly KeyValue[]): number {
  return kvs.reduce((sum, kv) => sum + kv.value.length, 0);
}

function isTooLarge(error: unknown): boolean {
  if (!(error instanceof StorageError) || !(error.cause instanceof TransportError)) return false;
  return error.cause.code === STATUS.resourceExhausted;
}
