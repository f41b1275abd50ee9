import { TokenCacheCounts } from '../../../engine/authn/token-cache-counts';

/** Counters of service account token uses, for metrics. */
export interface TokenCounts {
  /** Legacy tokens of Secrets, which never expire. */
  legacy: number;
  /** Bound tokens used after the time at which the client should have refreshed them. */
  stale: number;
  /** Bound tokens used before that time. */
  valid: number;
  /** Counters of the token caches of every kind. */
  readonly cache: TokenCacheCounts;
}

export function newTokenCounts(): TokenCounts {
  return { legacy: 0, stale: 0, valid: 0, cache: new TokenCacheCounts() };
}
