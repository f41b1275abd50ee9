import type { Clock } from '../../../shared/concurrency/clock';
import type { LoopBounds } from '../request/loop-bounds';
import type { Backend } from '../storage/backend';
import type { ClusterCache } from '../watch-cache/cluster-cache';

/** The dependencies of reads. */
export interface ReadContext {
  readonly backend: Backend;
  readonly cache: ClusterCache;
  /** `/registry`, without a trailing slash. */
  readonly prefix: string;
  readonly clock: Clock;
  /**
   * Prefixes (`core/secrets/`) of resources whose records may be stale or undecryptable. Only the store
   * knows which records are.
   */
  readonly encrypted: ReadonlySet<string>;
  /** How long a consistent read waits for the cache before it reads the store, in milliseconds. */
  readonly cacheWaitMs: number;
  /** Size limits for objects on this thread; absent: none. */
  readonly bounds?: LoopBounds | undefined;
}
