import type { ServerFlags } from './complete-options';
import type { OidcOptions } from './server-options';

const NO_PREFIX = '-';

/** Returns the errors of the flags for OpenID Connect. */
export function oidcErrors(flags: ServerFlags): readonly string[] {
  const errors: string[] = [];
  const { oidcIssuerUrl: issuer } = flags;
  if ((issuer === '') !== (flags.oidcClientId === '')) {
    errors.push('--oidc-issuer-url and --oidc-client-id must be given together');
  }
  if (issuer !== '' && (!URL.canParse(issuer) || new URL(issuer).protocol !== 'https:')) {
    errors.push(`--oidc-issuer-url must be an https URL, not "${issuer}"`);
  }
  if (issuer !== '' && flags.oidcUsernameClaim === '') errors.push('--oidc-username-claim must not be empty');
  if (issuer !== '' && flags.oidcSigningAlgs.length === 0) {
    errors.push('--oidc-signing-algs needs at least one algorithm');
  }
  for (const required of flags.oidcRequiredClaim) {
    if (!/^[^=]+=/.test(required)) {
      errors.push(`--oidc-required-claim must be like claim=value, not "${required}"`);
    }
  }
  return errors;
}

export function oidcOptions(flags: ServerFlags): OidcOptions | undefined {
  if (flags.oidcIssuerUrl === '') return undefined;
  return {
    issuer: flags.oidcIssuerUrl,
    clientId: flags.oidcClientId,
    caFile: flags.oidcCaFile === '' ? undefined : flags.oidcCaFile,
    algorithms: flags.oidcSigningAlgs,
    usernameClaim: flags.oidcUsernameClaim,
    usernamePrefix: usernamePrefixOf(flags),
    groupsClaim: flags.oidcGroupsClaim === '' ? undefined : flags.oidcGroupsClaim,
    groupsPrefix: flags.oidcGroupsPrefix,
    requiredClaims: Object.fromEntries(
      flags.oidcRequiredClaim.map((required) => {
        const at = required.indexOf('=');
        return [required.slice(0, at).trim(), required.slice(at + 1).trim()];
      }),
    ),
  };
}

/** Two issuers may both have a user 42, so names get a prefix by default. An email address is globally unique. */
function usernamePrefixOf({ oidcUsernamePrefix, oidcUsernameClaim, oidcIssuerUrl }: ServerFlags): string {
  if (oidcUsernamePrefix === NO_PREFIX) return '';
  if (oidcUsernamePrefix !== '') return oidcUsernamePrefix;
  return oidcUsernameClaim === 'email' ? '' : `${oidcIssuerUrl}#`;
}
