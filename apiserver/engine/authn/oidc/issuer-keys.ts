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
  /** How often the issuer may be asked; by default {@link FETCH_RATE}. */
  readonly fetchRate?: Rate;
  readonly counts?: TokenCacheCounts;
}

/** The newest keys that an issuer has published, and the tokens that are known to be signed with them. */
export interface IssuerKeys {
  /** Undefined as long as the issuer has not been reached. */
  readonly tokens: () => VerifiedTokens | undefined;
  /** Whether one of the keys has this name. */
  readonly has: (keyId: string) => boolean;
  /**
   * Looks for a key that is not known by this name: at once, or as soon as the issuer may be asked again. All who look at the same time
   * wait for one answer. Resolves when it is there, whatever came of it, and at once for a name that was looked for a moment ago.
   */
  readonly lookFor: (keyId: string) => Promise<void>;
  /** Asks for the keys anew; resolves when that is done, whatever came of it. */
  readonly refresh: () => Promise<void>;
}

/** Whoever makes up names of keys must not make this server a burden, nor keep others from a key that is new: they wait for a second. */
export const FETCH_RATE: Rate = { perSecond: 1, burst: 3 };
/** How long a name that the issuer does not know is not looked for again. */
export const UNKNOWN_MS = 5_000;
/** Names that the issuer does not know, and are remembered. */
const UNKNOWN_MAX = 1_024;
/** Requests that may wait for keys at the same time. */
const WAITING_MAX = 1_024;
/** How old keys may get before they are looked for again, so that one that was withdrawn is soon not trusted. */
const KEYS_AGE_MAX_MS = 600_000;
const RETRY_MS = 10_000;
const KEYS_MAX = 100;
/** Tokens whose signature need not be verified again: about 1 KB each. */
const VERIFIED_TOKENS_MAX = 4_096;

interface Known {
  readonly keys: readonly TokenKey[];
  readonly fingerprint: string;
  readonly tokens: VerifiedTokens;
}

/** Looks for the keys at once, and again until they are there; later when they are old, and when a token names one that is not known. */
export function followIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { issuer, fetchJson, clock, log, shutdownSignal } = options;
  const unknown = new LRUCache<string, { readonly atMs: number }>({ max: UNKNOWN_MAX });
  let known: Known | undefined;
  let triedAtMs = -Infinity;
  let waiting = 0;
  let answers = 0;
  /** Any time at all where the clock was set back meanwhile. */
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
      // Tokens that were verified with keys that are gone are not known any more.
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
  const lookFor = async (keyId: string): Promise<void> => {
    const digest = createHash('sha256').update(keyId).digest('base64');
    const lookedFor = unknown.get(digest);
    const isUnknown = lookedFor !== undefined && sinceMs(lookedFor.atMs) < UNKNOWN_MS;
    if (isUnknown || waiting >= WAITING_MAX) return;
    waiting += 1;
    try {
      await fetching.underWay();
      if (has(keyId)) return;
      const before = answers;
      await fetching.next();
      // An issuer that is out of reach has not said that it does not know the name.
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
    lookFor,
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
    throw new Error(`the document is of another issuer: ${JSON.stringify(document.issuer)}`);
  }
  const { keys } = fieldsOf<KeySet>(await fetchJson(text(document.jwks_uri), signal));
  const published = records(keys).slice(0, KEYS_MAX);
  const usable = (await Promise.all(published.map(async (key) => tokenKeysOfJwk(key, algorithms)))).flat();
  if (usable.length === 0) throw new Error(`there is no key for ${algorithms.join(', ')}`);
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
