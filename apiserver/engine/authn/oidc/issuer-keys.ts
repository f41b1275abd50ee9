import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { TokenAlgorithm, TokenKey } from '../../../../shared/tokens/token-key';
import { tokenKeysOfJwk } from '../../../../shared/tokens/token-key';
import type { Clock } from '../../../../shared/concurrency/clock';
import { pause } from '../../../../shared/concurrency/pause';
import type { Rate } from '../../../../shared/concurrency/token-bucket';
import { defined } from '../../../../shared/defined';
import type { Log } from '../../../../shared/log/log';
import { fieldsOf, records, text } from '../../../../shared/object/accessors';
import type { TokenCacheCounts } from '../token-cache-counts';
import { VerifiedTokens } from '../verified-tokens';
import type { FetchJson } from './fetch-json';
import { pacedFetch } from './paced-fetch';

export interface IssuerKeysOptions {
  readonly issuer: string;
  readonly algorithms: readonly TokenAlgorithm[];
  readonly fetchJson: FetchJson;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the server is stopped. */
  readonly shutdownSignal: AbortSignal;
  /** The rate limit of fetches; by default {@link FETCH_RATE}. */
  readonly fetchRate?: Rate;
  readonly counts?: TokenCacheCounts;
}

/** The published keys of an issuer, and a cache of tokens that were verified with them. */
export interface IssuerKeys {
  /** Undefined until the first successful fetch. */
  readonly tokens: () => VerifiedTokens | undefined;
  /** Returns whether a key has this id. */
  readonly has: (keyId: string) => boolean;
  /**
   * Fetches the keys because a key id is unknown, as soon as the rate limit allows. Concurrent callers share one fetch. Resolves when it has
   * finished or failed, and at once for an id that was recently found to be unknown.
   */
  readonly fetchUnknown: (keyId: string) => Promise<void>;
  /** Fetches the keys again. Resolves when the fetch has finished or failed. */
  readonly refresh: () => Promise<void>;
}

/** Limits fetches, so that tokens with invented key ids neither flood the issuer nor delay a new key by more than a second. */
export const FETCH_RATE: Rate = { perSecond: 1, burst: 3 };
/** How long an unknown key id is not fetched again. */
export const UNKNOWN_MS = 5_000;
/** The number of unknown key ids that are cached. */
const UNKNOWN_MAX = 1_024;
/** The maximum of requests that wait for keys. */
const WAITING_MAX = 1_024;
/** The maximum age of keys, so that a withdrawn key is soon not trusted. */
const KEYS_AGE_MAX_MS = 600_000;
const RETRY_MS = 10_000;
const KEYS_MAX = 100;
/** Cached verified tokens, about 1 KB each. */
const VERIFIED_TOKENS_MAX = 4_096;

interface Known {
  readonly keys: readonly TokenKey[];
  readonly fingerprint: string;
  readonly tokens: VerifiedTokens;
}

/** Fetches the keys at once with retries, and again when they are old or a token has an unknown key id. */
export function followIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { issuer, fetchJson, clock, log, shutdownSignal } = options;
  const unknown = new LRUCache<string, { readonly atMs: number }>({ max: UNKNOWN_MAX });
  let known: Known | undefined;
  let triedAtMs = -Infinity;
  let waiting = 0;
  let answers = 0;
  /** Infinity if the clock was set back. */
  const sinceMs = (atMs: number): number => {
    const agoMs = clock.now() - atMs;
    return agoMs < 0 ? Infinity : agoMs;
  };
  const has = (keyId: string): boolean => known?.keys.some((key) => key.keyId === keyId) ?? false;
  const fetchKeys = async (): Promise<void> => {
    triedAtMs = clock.now();
    try {
      const keys = await publishedKeys(options, fetchJson, shutdownSignal);
      answers += 1;
      const fingerprint = fingerprintOf(keys);
      // A new key set drops the cache of tokens verified with the old one.
      if (known?.fingerprint === fingerprint) return;
      known = {
        keys,
        fingerprint,
        tokens: verifiedBy(keys, options),
      };
      log.info({ issuer, keys: keys.length }, 'signing keys of the OIDC issuer loaded');
    } catch (error) {
      if (!shutdownSignal.aborted) {
        log.warn({ issuer, error: String(error) }, 'failed to fetch the signing keys of the OIDC issuer');
      }
    }
  };
  const fetching = pacedFetch(fetchKeys, { rate: options.fetchRate ?? FETCH_RATE, clock, shutdownSignal });
  const refresh = async (): Promise<void> => fetching.underWay() ?? fetching.next();
  const fetchUnknown = async (keyId: string): Promise<void> => {
    const digest = createHash('sha256').update(keyId).digest('base64');
    const attempt = unknown.get(digest);
    const isUnknown = attempt !== undefined && sinceMs(attempt.atMs) < UNKNOWN_MS;
    if (isUnknown || waiting >= WAITING_MAX) return;
    waiting += 1;
    try {
      await fetching.underWay();
      if (has(keyId)) return;
      const before = answers;
      await fetching.next();
      // After a failed fetch the id may still be valid.
      if (!has(keyId) && answers > before) unknown.set(digest, { atMs: clock.now() });
    } finally {
      waiting -= 1;
    }
  };
  const begin = async (): Promise<void> => {
    for (;;) {
      await refresh();
      if (known !== undefined || shutdownSignal.aborted) return;
      await pause(RETRY_MS, shutdownSignal);
    }
  };
  void begin();
  return {
    tokens: () => {
      if (known !== undefined && sinceMs(triedAtMs) > KEYS_AGE_MAX_MS) void refresh();
      return known?.tokens;
    },
    has,
    fetchUnknown,
    refresh,
  };
}

/** OpenID Connect Discovery 1.0. */
interface IssuerDocument {
  readonly issuer: string;
  readonly jwks_uri: string;
}

/** RFC 7517. */
interface KeySet {
  readonly keys: readonly object[];
}

async function publishedKeys(
  { issuer, algorithms }: IssuerKeysOptions,
  fetchJson: FetchJson,
  signal: AbortSignal,
): Promise<readonly TokenKey[]> {
  const document = fieldsOf<IssuerDocument>(
    await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, signal),
  );
  if (document.issuer !== issuer) {
    throw new Error(`the discovery document has another issuer: ${JSON.stringify(document.issuer)}`);
  }
  const { keys } = fieldsOf<KeySet>(await fetchJson(text(document.jwks_uri), signal));
  const published = records(keys).slice(0, KEYS_MAX);
  const usable = (await Promise.all(published.map(async (key) => tokenKeysOfJwk(key, algorithms)))).flat();
  if (usable.length === 0) throw new Error(`the key set has no key for ${algorithms.join(', ')}`);
  return usable;
}

function fingerprintOf(keys: readonly TokenKey[]): string {
  const parts = keys.map(({ keyId, algorithm, publicKey }) => {
    const bytes = publicKey.export({ type: 'spki', format: 'der' });
    return `${JSON.stringify(keyId)} ${algorithm} ${bytes.toString('base64')}`;
  });
  return parts.sort().join('\n');
}

function verifiedBy(keys: readonly TokenKey[], { issuer, counts }: IssuerKeysOptions): VerifiedTokens {
  return new VerifiedTokens({ issuer, keys, tokensMax: VERIFIED_TOKENS_MAX, ...defined({ counts }) });
}
