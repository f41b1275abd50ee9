import { withTimeLimit } from '../../../shared/concurrency/time-limit';
import type { WaitOptions } from './context';

/** What somebody needs before they believe the cache. */
export interface FreshnessNeeds {
  /**
   * What they will look at: while a resource is being read anew it shows a part of its objects, or none. Empty for those who look at
   * nothing themselves.
   */
  readonly of: readonly FilledResource[];
  /** The revision that the cache must have come to; absent: everything that was acknowledged before the call. */
  readonly revision?: number;
  /** For all of it together; the store's answer counts, but is only cut short by its own limit (`readIndexTimeoutMs`). */
  readonly timeoutMs: number;
  /** What `of` being read anew means: `wait` for those who have nothing else to look at, `behind` at once for those who can ask the store. */
  readonly refill: 'wait' | 'behind';
}

/** `behind`: it did not get there in time, and what it shows proves nothing. */
export type Freshness = 'fresh' | 'behind';

/** A resource of the cache, as far as this needs it. */
interface FilledResource {
  readonly isReady: boolean;
  whenReady(signal: AbortSignal): Promise<void>;
}

/** The cache, as far as this needs it. */
interface FollowingCache {
  readIndex(signal: AbortSignal): Promise<number>;
  waitForRevision(revision: number, options: WaitOptions): Promise<boolean>;
}

/**
 * Waits until the cache is as fresh as somebody needs it. The answer is of the moment in which it was found: a resource can be emptied, to be
 * read anew, before the caller goes on, so that `isReady` is asked once more in the very step that reads. Throws the store's error when that does not tell its revision (StorageError
 * `unavailable` when it takes too long), and the signal's reason.
 */
export async function freshen(
  cache: FollowingCache,
  { of, revision, timeoutMs, refill }: FreshnessNeeds,
  signal: AbortSignal,
): Promise<Freshness> {
  const startedAt = performance.now();
  const wanted = revision ?? (await cache.readIndex(signal));
  const leftMs = (): number => timeoutMs - (performance.now() - startedAt);
  if (!(await cache.waitForRevision(wanted, { timeoutMs: leftMs(), signal }))) {
    signal.throwIfAborted();
    return 'behind';
  }
  if (refill === 'wait' && !areFilled(of)) await waitUntilFilled(of, leftMs(), signal);
  return areFilled(of) ? 'fresh' : 'behind';
}

function areFilled(resources: readonly FilledResource[]): boolean {
  return resources.every(({ isReady }) => isReady);
}

/** Ends with the time as well. */
async function waitUntilFilled(
  resources: readonly FilledResource[],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    await withTimeLimit(signal, timeoutMs, async (inTime) => {
      await Promise.all(resources.map(async (resource) => resource.whenReady(inTime)));
    });
  } catch {
    signal.throwIfAborted();
  }
}
