import type { ServerFlags } from './complete-options';
import type { AccountTokenOptions } from './server-options';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const EXPIRATION_MS_MAX = 2 ** 32 * SECOND_MS;
const EXTENDED_EXPIRATION_SECONDS = 365 * 24 * 60 * 60;

/** Returns the errors of the flags for tokens of service accounts. */
export function accountTokenErrors(flags: ServerFlags): readonly string[] {
  const errors: string[] = [];
  const issuer = flags.serviceAccountIssuer;
  if (issuer === '') errors.push('--service-account-issuer must not be empty');
  if (issuer.includes(':') && !URL.canParse(issuer)) {
    errors.push(`--service-account-issuer has a ":" but is no URL: "${issuer}"`);
  }
  if (flags.serviceAccountSigningKeyFile === '' && flags.certDir === '') {
    errors.push('--cert-dir must not be empty without --service-account-signing-key-file');
  }
  const max = flags.serviceAccountMaxTokenExpirationMs;
  if (max !== 0 && (max < HOUR_MS || max > EXPIRATION_MS_MAX)) {
    errors.push('--service-account-max-token-expiration must be between 1h and 2^32 seconds');
  }
  const keysUrl = flags.serviceAccountJwksUri;
  if (keysUrl !== '' && (!URL.canParse(keysUrl) || new URL(keysUrl).protocol !== 'https:')) {
    errors.push(`--service-account-jwks-uri must be an https URL, not "${keysUrl}"`);
  }
  return errors;
}

/** Returns warnings to log at startup. */
export function accountTokenWarnings(flags: ServerFlags): readonly string[] {
  const max = flags.serviceAccountMaxTokenExpirationMs / SECOND_MS;
  if (!flags.serviceAccountExtendTokenExpiration || max === 0 || max >= EXTENDED_EXPIRATION_SECONDS)
    return [];
  return [
    `--service-account-max-token-expiration does not cap the tokens of pods, which --service-account-extend-token-expiration extends to a year: set --service-account-extend-token-expiration=false to cap them too`,
  ];
}

/**
 * Without a signing key the server generates one. Other tokens are verified with the given keys. Without any, the private key of the
 * serving certificate is used, because signers without a signing key use it.
 */
export function accountTokenOptions(flags: ServerFlags): AccountTokenOptions {
  const file = flags.serviceAccountSigningKeyFile;
  const issuer = flags.serviceAccountIssuer;
  const max = flags.serviceAccountMaxTokenExpirationMs;
  return {
    issuer,
    signingKey: file === '' ? { from: 'self-made', dir: flags.certDir } : { from: 'file', file },
    keyFiles: flags.serviceAccountKeyFile,
    servingKeyFile: flags.tlsPrivateKeyFile === '' ? undefined : flags.tlsPrivateKeyFile,
    apiAudiences: flags.apiAudiences.length === 0 ? [issuer] : flags.apiAudiences,
    maxExpirationSeconds: max === 0 ? undefined : Math.floor(max / SECOND_MS),
    extendsExpiration: flags.serviceAccountExtendTokenExpiration,
    keysUrl: flags.serviceAccountJwksUri === '' ? undefined : flags.serviceAccountJwksUri,
    lookup: flags.serviceAccountLookup,
  };
}
