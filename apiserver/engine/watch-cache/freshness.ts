import { withTimeLimit } from '../../../shared/concurrency/time-limit';
import type { WaitOptions } from './context';

/** How fresh the cache must be for a reader. */
export interface FreshnessNeeds {
  /**
   * The resources that are read: during a refill they show only some of their objects. Empty for a caller that reads no resource.
   */
  readonly of: readonly FilledResource[];
  /** The revision that the cache must reach; absent: every write acknowledged before the call (linearizable). */
  readonly revision?: number;
  /** Limit of the whole wait. The read index counts towards it, but is cancelled only by its own limit (`readIndexTimeoutMs`). */
  readonly timeoutMs: number;
  /** What to do while `of` is refilled: `wait` for it, or return `behind` at once, for callers that can read the store instead. */
  readonly refill: 'wait' | 'behind';
}

/** `behind`: the cache did not catch up in time. */
export type Freshness = 'fresh' | 'behind';

/** The part of a resource cache that is needed here. */
interface FilledResource {
  readonly isReady: boolean;
  whenReady(signal: AbortSignal): Promise<void>;
}

/** The part of the cluster cache that is needed here. */
interface FollowingCache {
  readIndex(signal: AbortSignal): Promise<number>;
  waitForRevision(revision: number, options: WaitOptions): Promise<boolean>;
}

/**
 * Waits until the cache is as fresh as a reader needs it. A refill may begin right after this resolves, so the caller checks `isReady` again
 * in the step that reads. Throws the error of the read index (StorageError `unavailable` on timeout), and the signal's reason.
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

/** Returns when all are filled or the time is over. */
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
