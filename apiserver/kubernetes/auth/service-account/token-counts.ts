import { TokenCacheCounts } from '../../../engine/authn/token-cache-counts';

/** How often tokens of service accounts were used, for metrics: numbers that only grow. */
export interface TokenCounts {
  /** Tokens of Secrets, which never end. */
  legacy: number;
  /** Tokens of pods after the time at which their client should have fetched new ones. */
  stale: number;
  /** Tokens of pods before that time. */
  valid: number;
  /** Of whatever kind of token is remembered. */
  readonly cache: TokenCacheCounts;
}

export function newTokenCounts(): TokenCounts {
  return { legacy: 0, stale: 0, valid: 0, cache: new TokenCacheCounts() };
}
