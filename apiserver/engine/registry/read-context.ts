import type { Clock } from '../../../shared/concurrency/clock';
import type { LoopBounds } from '../request/loop-bounds';
import type { Backend } from '../storage/backend';
import type { ClusterCache } from '../watch-cache/cluster-cache';

/** What a read needs of the process. */
export interface ReadContext {
  readonly backend: Backend;
  readonly cache: ClusterCache;
  /** `/registry`, without a trailing slash. */
  readonly prefix: string;
  readonly clock: Clock;
  /** Of which resources records may be stale, or such that no key fits, by their prefixes below that: `core/secrets/`. Only the store tells of which. */
  readonly encrypted: ReadonlySet<string>;
  /** How long a consistent read waits for the cache before it asks the store itself. */
  readonly cacheWaitMs: number;
  /** How large an object may be to be parsed in this thread; absent: as large as it is. */
  readonly bounds?: LoopBounds | undefined;
}
