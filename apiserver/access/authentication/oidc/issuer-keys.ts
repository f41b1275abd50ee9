import type { TokenAlgorithm, TokenKey } from '../../../../shared/tokens/token-key';
import { tokenKeysOfJwk } from '../../../../shared/tokens/token-key';
import type { Clock } from '../../../../shared/concurrency/clock';
import { pause } from '../../../../shared/concurrency/pause';
import type { Log } from '../../../../shared/log/log';
import { fieldsOf, records, text } from '../../../../shared/object/accessors';
import { VerifiedTokens } from '../verified-tokens';
import type { FetchJson } from './fetch-json';

export interface IssuerKeysOptions {
  readonly issuer: string;
  readonly algorithms: readonly TokenAlgorithm[];
  readonly fetchJson: FetchJson;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the server is stopped. */
  readonly life: AbortSignal;
}

/** The newest keys that an issuer has published, and the tokens that are known to be signed with them. */
export interface IssuerKeys {
  /** Undefined as long as the issuer has not been reached. */
  readonly tokens: () => VerifiedTokens | undefined;
  /** Whether one of the keys has this name. */
  readonly has: (keyId: string) => boolean;
  /** Asks for the keys anew, unless that was done a moment ago; resolves when it is done, whatever came of it. */
  readonly refresh: () => Promise<void>;
}

/** How long after one look for keys the next may be: whoever makes up names of keys must not make this server a burden. */
export const REFRESH_INTERVAL_MS = 10_000;
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
  const { issuer, fetchJson, clock, log, life } = options;
  let known: Known | undefined;
  let triedAtMs = -Infinity;
  let refreshing: Promise<void> | undefined;
  /** Any time at all where the clock was set back meanwhile. */
  const sinceTryMs = (): number => {
    const agoMs = clock.now() - triedAtMs;
    return agoMs < 0 ? Infinity : agoMs;
  };
  const fetchKeys = async (): Promise<void> => {
    triedAtMs = clock.now();
    try {
      const keys = await publishedKeys(options, fetchJson, life);
      const fingerprint = fingerprintOf(keys);
      // Tokens that were verified with keys that are gone are not known any more.
      if (known?.fingerprint === fingerprint) return;
      known = {
        keys,
        fingerprint,
        tokens: new VerifiedTokens({ issuer, keys, tokensMax: VERIFIED_TOKENS_MAX }),
      };
      log.info({ issuer, keys: keys.length }, 'signing keys of the OIDC issuer loaded');
    } catch (error) {
      if (!life.aborted) {
        log.warn({ issuer, error: String(error) }, 'failed to fetch the signing keys of the OIDC issuer');
      }
    }
  };
  const refresh = async (): Promise<void> => {
    if (refreshing === undefined && sinceTryMs() < REFRESH_INTERVAL_MS) return;
    refreshing ??= fetchKeys().finally(() => {
      refreshing = undefined;
    });
    await refreshing;
  };
  const begin = async (): Promise<void> => {
    for (;;) {
      await refresh();
      if (known !== undefined || life.aborted) return;
      await pause(RETRY_MS, life);
    }
  };
  void begin();
  return {
    tokens: () => {
      if (known !== undefined && sinceTryMs() > KEYS_AGE_MAX_MS) void refresh();
      return known?.tokens;
    },
    has: (keyId) => known?.keys.some((key) => key.keyId === keyId) ?? false,
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
