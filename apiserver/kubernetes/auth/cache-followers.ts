import { withTimeLimit } from '../../../shared/concurrency/time-limit';
import { StatusError, serviceUnavailable } from '../../../shared/errors/status-error';
import type { CacheFollower } from '../../engine/watch-cache/cache-follower';
import type { ClusterCache } from '../../engine/watch-cache/cluster-cache';
import { StorageError } from '../../engine/storage/backend';

/** How long a request waits for what is being read anew, or for news of it. */
const WAIT_MS_MAX = 1_000;
const RETRY_AFTER_SECONDS = 1;

/** Several followers of one cache that a decision needs, all of them. */
export class CacheFollowers {
  readonly #cache: ClusterCache;
  readonly #followers: readonly CacheFollower[];
  readonly #what: string;

  /** `what` they follow is named in refusals: `roles`. */
  constructor(cache: ClusterCache, followers: readonly CacheFollower[], what: string) {
    this.#cache = cache;
    this.#followers = followers;
    this.#what = what;
  }

  /** How often any of them forgot everything. */
  get starts(): number {
    return this.#followers.reduce((sum, { starts }) => sum + starts, 0);
  }

  /** Throws ServiceUnavailable (503) when what they follow is not there in time: nobody is let through meanwhile. */
  async whenReady(signal: AbortSignal): Promise<void> {
    if (this.#followers.every(({ isPrepared }) => isPrepared)) return;
    try {
      await withTimeLimit(signal, WAIT_MS_MAX, async (inTime) => this.whenPrepared(inTime));
    } catch (error) {
      if (signal.aborted) throw error;
      throw serviceUnavailable(`authorization waits for ${this.#what} to be read anew`, RETRY_AFTER_SECONDS);
    }
  }

  /** The same, for however long it takes. */
  async whenPrepared(signal: AbortSignal): Promise<void> {
    for (const follower of this.#followers) await follower.whenPrepared(signal);
  }

  /** Waits until everything that was written before this call is known; false when that takes too long. */
  async freshen(signal: AbortSignal): Promise<boolean> {
    return withTimeLimit(signal, WAIT_MS_MAX, async (inTime) => {
      try {
        const needs = { of: [], timeoutMs: WAIT_MS_MAX, refill: 'wait' } as const;
        if ((await this.#cache.freshen(needs, inTime)) === 'behind') return false;
        // What follows the cache is prepared some time after it.
        await this.whenReady(inTime);
        return true;
      } catch (error) {
        if (signal.aborted) throw error;
        if (inTime.aborted || error instanceof StatusError || error instanceof StorageError) return false;
        throw error;
      }
    });
  }

  /** Takes over what has changed, and tells of how many that is true. Call `whenReady` before. */
  catchUp(): number {
    return this.#followers.reduce((sum, follower) => sum + (follower.catchUp() ? 1 : 0), 0);
  }
}
