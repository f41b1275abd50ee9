import { withTimeLimit } from '../../../shared/concurrency/time-limit';
import { StatusError, serviceUnavailable } from '../../../shared/errors/status-error';
import type { CacheFollower } from '../../engine/watch-cache/cache-follower';
import type { ClusterCache } from '../../engine/watch-cache/cluster-cache';
import { StorageError } from '../../engine/storage/backend';

/** How long a request waits for a refill of the cache, or for fresh data. */
const WAIT_MS_MAX = 1_000;
const RETRY_AFTER_SECONDS = 1;

/** A group of followers of one cache that a decision needs together. */
export class CacheFollowers {
  readonly #cache: ClusterCache;
  readonly #followers: readonly CacheFollower[];
  readonly #what: string;

  /** `what` names the followed objects in errors: `roles`. */
  constructor(cache: ClusterCache, followers: readonly CacheFollower[], what: string) {
    this.#cache = cache;
    this.#followers = followers;
    this.#what = what;
  }

  /** The number of resets of all followers. */
  get starts(): number {
    return this.#followers.reduce((sum, { starts }) => sum + starts, 0);
  }

  /** Waits until all followers are prepared. Throws ServiceUnavailable (503) when that takes too long. */
  async whenReady(signal: AbortSignal): Promise<void> {
    if (this.#followers.every(({ isPrepared }) => isPrepared)) return;
    try {
      await withTimeLimit(signal, WAIT_MS_MAX, async (inTime) => this.whenPrepared(inTime));
    } catch (error) {
      if (signal.aborted) throw error;
      throw serviceUnavailable(
        `authorization is waiting for ${this.#what}: the watch cache is being refilled`,
        RETRY_AFTER_SECONDS,
      );
    }
  }

  /** Waits without a time limit until all followers are prepared. */
  async whenPrepared(signal: AbortSignal): Promise<void> {
    for (const follower of this.#followers) await follower.whenPrepared(signal);
  }

  /** Waits until every write acknowledged before this call is applied; false when that takes too long. */
  async freshen(signal: AbortSignal): Promise<boolean> {
    return withTimeLimit(signal, WAIT_MS_MAX, async (inTime) => {
      try {
        const needs = { of: [], timeoutMs: WAIT_MS_MAX, refill: 'wait' } as const;
        if ((await this.#cache.freshen(needs, inTime)) === 'behind') return false;
        // Followers are prepared some time after the cache is filled.
        await this.whenReady(inTime);
        return true;
      } catch (error) {
        if (signal.aborted) throw error;
        if (inTime.aborted || error instanceof StatusError || error instanceof StorageError) return false;
        throw error;
      }
    });
  }

  /** Applies all changes and returns the number of followers that had some. Call `whenReady` first. */
  catchUp(): number {
    return this.#followers.reduce((sum, follower) => sum + (follower.catchUp() ? 1 : 0), 0);
  }
}
