import { sleep } from '../../../../shared/concurrency/abort';
import type { Backoff } from '../../../../shared/concurrency/backoff';
import { withTimeLimit } from '../../../../shared/concurrency/time-limit';
import type { Log } from '../../../../shared/log/log';
import type { Backend, ListResult, StoredRecord } from '../../storage/backend';
import { StorageError } from '../../storage/backend';

export interface FillOptions {
  readonly backend: Backend;
  /** Absolute. */
  readonly prefix: string;
  /** The revision to read; absent means the newest at the time of the first page. */
  readonly revision?: number;
  readonly pageRecords: number;
  readonly backoff: Backoff;
  readonly log: Log;
  /** Called with the revision before the first record. */
  readonly begin: (revision: number) => void;
  /** Loads one page; the next one is fetched concurrently. */
  readonly load: (records: readonly StoredRecord[]) => Promise<void>;
}

/** One page of 500 records of 1.5 MiB takes a slow disk seconds, not minutes. */
const PAGE_TIMEOUT_MS = 60_000;

/**
 * Reads everything below a prefix in pages at one revision, and returns that revision. Retries during outages; throws every other error,
 * including `compacted` when the revision is compacted meanwhile.
 */
export async function fill(options: FillOptions, signal: AbortSignal): Promise<number> {
  const { begin, load } = options;
  let page = await readPage(options, { revision: options.revision, after: undefined }, signal);
  const { revision } = page;
  begin(revision);
  for (;;) {
    const last = page.records.at(-1);
    const next =
      page.remaining > 0 && last !== undefined
        ? readPage(options, { revision, after: last.key }, signal)
        : undefined;
    // It is awaited below, but may reject while this page is being loaded.
    next?.catch(() => undefined);
    await load(page.records);
    signal.throwIfAborted();
    if (next === undefined) return revision;
    page = await next;
  }
}

async function readPage(
  options: FillOptions,
  place: { readonly revision: number | undefined; readonly after: string | undefined },
  signal: AbortSignal,
): Promise<ListResult> {
  let limit = options.pageRecords;
  for (;;) {
    try {
      const page = {
        limit,
        ...(place.revision === undefined ? {} : { revision: place.revision }),
        ...(place.after === undefined ? {} : { after: place.after }),
      };
      const result = await withTimeLimit(signal, PAGE_TIMEOUT_MS, async (inTime) =>
        options.backend.list(options.prefix, page, inTime),
      );
      options.backoff.reset();
      return result;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof StorageError && error.code === 'too-large' && limit > 1) {
        limit = Math.ceil(limit / 2);
        continue;
      }
      if (!isTransient(error)) throw error;
      options.log.warn(
        { prefix: options.prefix, error },
        'store unavailable; retrying the initial list of the watch cache',
      );
      await sleep(options.backoff.next(), signal);
    }
  }
}

/** Whether a retry may succeed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof StorageError) return error.code === 'unavailable';
  return error instanceof DOMException && error.name === 'TimeoutError';
}
