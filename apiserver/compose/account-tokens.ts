import { ensureServiceAccountKey } from '../../shared/tokens/service-account-key';
import { signToken } from '../../shared/tokens/json-web-token';
import type { Clock } from '../../shared/concurrency/clock';
import type { Log } from '../../shared/log/log';
import { accountObjects } from '../kubernetes/auth/service-account/account-objects';
import { boundTokens } from '../kubernetes/auth/service-account/bound-tokens';
import { legacyTokens } from '../kubernetes/auth/service-account/legacy-tokens';
import type { TokenCounts } from '../kubernetes/auth/service-account/token-counts';
import { newTokenCounts } from '../kubernetes/auth/service-account/token-counts';
import type { AccountTokenKeys } from '../kubernetes/auth/service-account/token-keys';
import { readAccountTokenKeys } from '../kubernetes/auth/service-account/token-keys';
import type { TokenAuthenticator } from '../engine/authn/token-authenticator';
import type { ControlPlane } from './control-plane';
import type { AccountTokenOptions } from './options/server-options';
import type { AccountTokens } from '../engine/registry/operation';
import type { TokenKey } from '../../shared/tokens/token-key';

/** The components that issue and authenticate tokens of service accounts. */
export interface AccountTokenParts {
  readonly apiAudiences: readonly string[];
  readonly authenticators: readonly TokenAuthenticator[];
  readonly issuing: AccountTokens;
  readonly counts: TokenCounts;
  /** The public keys by which other programs can verify tokens of the current issuer. */
  readonly keys: readonly TokenKey[];
}

export interface AccountTokenContext {
  readonly plane: Pick<ControlPlane, 'store' | 'registry' | 'requests'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Reads or generates the signing key and builds the components. Throws an error that names the file if a key is unusable. */
export function createAccountTokens(
  options: AccountTokenOptions,
  { plane, clock, log }: AccountTokenContext,
): AccountTokenParts {
  const { issuer, apiAudiences } = options;
  const keys = keysOf(options, log);
  const counts = newTokenCounts();
  const objects = accountObjects(plane.store, plane.registry);
  const common = { keys: keys.verifying, apiAudiences, objects, counts };
  return {
    apiAudiences,
    // The most frequent kind of token comes first, because the other authenticator has to parse a token to reject it.
    authenticators: [
      boundTokens({ ...common, issuer, clock }),
      legacyTokens({ ...common, lookup: options.lookup }),
    ],
    issuing: {
      sign: async (claims) => signToken(keys.signing, claims),
      issuer,
      maxExpirationSeconds: options.maxExpirationSeconds,
      extendsExpiration: options.extendsExpiration,
    },
    counts,
    keys: keys.verifying,
  };
}

function keysOf({ signingKey, keyFiles, servingKeyFile }: AccountTokenOptions, log: Log): AccountTokenKeys {
  if (signingKey.from === 'memory') {
    const { privateKey: _secret, ...own } = signingKey.key;
    return { signing: signingKey.key, verifying: [own] };
  }
  const signingKeyFile = signingKey.from === 'file' ? signingKey.file : ownKeyFile(signingKey.dir, log);
  const keys = readAccountTokenKeys({ signingKeyFile, keyFiles });
  if (keyFiles.length > 0 || servingKeyFile === undefined) return keys;
  try {
    return readAccountTokenKeys({ signingKeyFile, keyFiles: [servingKeyFile] });
  } catch (error) {
    log.info(
      { error: String(error) },
      'the key of the serving certificate cannot be used to verify service account tokens',
    );
    return keys;
  }
}

function ownKeyFile(dir: string, log: Log): string {
  const { file, isNew } = madeOrFound(dir);
  log.info(
    { file },
    `service account tokens are signed with the key ${isNew ? 'generated' : 'found'} in this file; all replicas need the same key: set --service-account-signing-key-file`,
  );
  return file;
}

function madeOrFound(dir: string): ReturnType<typeof ensureServiceAccountKey> {
  try {
    return ensureServiceAccountKey(dir);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `no key for the tokens of service accounts can be made in ${dir} (${why}); give one with --service-account-signing-key-file`,
      { cause: error },
    );
  }
}
