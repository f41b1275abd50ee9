import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Claims } from '../../../shared/tokens/json-web-token';
import { isSignedByOneOf, parseToken } from '../../../shared/tokens/json-web-token';
import type { TokenKey } from '../../../shared/tokens/token-key';
import type { TokenCacheCounts } from './token-cache-counts';

/** Longer tokens are not parsed. */
const TOKEN_BYTES_MAX = 65_536;
/** Longer tokens are not cached: a client can request a token with any number of audiences. */
const CACHED_TOKEN_BYTES_MAX = 8_192;

export type Verified =
  | { readonly is: 'verified'; readonly claims: Claims }
  /** Not a token of this issuer, or no token at all. */
  | { readonly is: 'foreign' }
  | { readonly is: 'forged' };

/**
 * Verifies signatures and caches the valid ones (LRU): a signature stays valid as long as the keys are the same. Other checks of a token are
 * not cached. Invalid tokens are not cached, because a flood of them would evict the valid ones.
 */
export class VerifiedTokens {
  readonly #issuer: string;
  readonly #keys: readonly TokenKey[];
  /** By the digest of the token, so that no secret stays in memory. */
  readonly #known: LRUCache<string, Claims>;
  readonly #counts: TokenCacheCounts | undefined;

  constructor(options: {
    readonly issuer: string;
    readonly keys: readonly TokenKey[];
    readonly tokensMax: number;
    readonly counts?: TokenCacheCounts;
  }) {
    this.#issuer = options.issuer;
    this.#keys = options.keys;
    this.#counts = options.counts;
    this.#known = new LRUCache({ max: options.tokensMax });
  }

  async verify(token: string): Promise<Verified> {
    if (token.length > TOKEN_BYTES_MAX) return { is: 'foreign' };
    const digest = hash('sha256', token, 'base64');
    const known = this.#known.get(digest);
    if (known !== undefined) {
      this.#counts?.hit();
      return { is: 'verified', claims: known };
    }
    const parsed = parseToken(token);
    if (parsed === undefined || parsed.claims.iss !== this.#issuer) return { is: 'foreign' };
    // Refuse duplicate claims, as kube-apiserver's library does: parsers differ in which one they use.
    if (parsed.repeatsClaims || !(await this.#isSigned(parsed))) return { is: 'forged' };
    if (token.length <= CACHED_TOKEN_BYTES_MAX) this.#known.set(digest, parsed.claims);
    return { is: 'verified', claims: parsed.claims };
  }

  async #isSigned(parsed: NonNullable<ReturnType<typeof parseToken>>): Promise<boolean> {
    const verify = async (): Promise<boolean> => isSignedByOneOf(parsed, this.#keys);
    return this.#counts === undefined ? verify() : this.#counts.miss(verify, Boolean);
  }

  get size(): number {
    return this.#known.size;
  }
}
