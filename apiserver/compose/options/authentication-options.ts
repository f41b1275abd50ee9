import { oidcErrors, oidcOptions } from './oidc-options';
import { accountTokenOptions, accountTokenWarnings } from './account-token-options';
import type { ServerFlags } from './complete-options';
import type { AuthenticationOptions, RequestHeaderOptions, TokenWebhookOptions } from './server-options';
import { defined } from '../../../shared/defined';

/** Returns the errors of the flags for authentication. */
export function authenticationErrors(flags: ServerFlags): readonly string[] {
  const errors: string[] = [];
  if (flags.requestheaderClientCaFile !== '' && flags.requestheaderUsernameHeaders.length === 0) {
    errors.push('--requestheader-client-ca-file needs --requestheader-username-headers');
  }
  return [...errors, ...oidcErrors(flags)];
}

/** Returns warnings to log at startup. */
export function authenticationWarnings(flags: ServerFlags): readonly string[] {
  const warnings = [...accountTokenWarnings(flags)];
  const isAlwaysAllow = flags.authorizationMode.includes('AlwaysAllow');
  if (isAlwaysAllow && flags.anonymousAuth) {
    warnings.push(
      'anonymous requests are disabled: with the authorization mode AlwaysAllow anyone who can reach the port could do everything',
    );
  }
  const users = [
    flags.tokenAuthFile,
    flags.clientCaFile,
    flags.requestheaderClientCaFile,
    flags.oidcIssuerUrl,
    flags.authenticationTokenWebhookConfigFile,
  ];
  if (isAlwaysAllow && users.every((file) => file === '') && !flags.enableBootstrapTokenAuth) {
    warnings.push(
      'no authentication method is configured, so every request will get 401: set --token-auth-file or --client-ca-file',
    );
  }
  const idle = requestHeaderLists(flags).filter(([, values]) => values.length > 0);
  if (flags.requestheaderClientCaFile === '' && idle.length > 0) {
    warnings.push(
      `no authenticating proxy is trusted without --requestheader-client-ca-file: ${idle.map(([flag]) => flag).join(', ')} have no effect`,
    );
  }
  if (flags.clientCaFile !== '' && flags.clientCaFile === flags.requestheaderClientCaFile) {
    warnings.push(
      '--client-ca-file and --requestheader-client-ca-file are the same: unless --requestheader-allowed-names forbids it, every user with a certificate can impersonate any user',
    );
  }
  return warnings;
}

/** With AlwaysAllow, anonymous requests are disabled. */
export function authenticationOptions(flags: ServerFlags): AuthenticationOptions {
  const requestHeader = requestHeaderOptions(flags);
  const oidc = oidcOptions(flags);
  const { authenticationTokenWebhookConfigFile: webhookFile } = flags;
  return {
    ...(flags.tokenAuthFile === '' ? {} : { tokenFile: flags.tokenAuthFile }),
    ...(flags.clientCaFile === '' ? {} : { clientCaFile: flags.clientCaFile }),
    ...defined({ requestHeader, oidc }),
    ...(webhookFile === '' ? {} : { tokenWebhook: tokenWebhookOptions(flags) }),
    bootstrapTokens: flags.enableBootstrapTokenAuth,
    accountTokens: accountTokenOptions(flags),
    anonymous: flags.anonymousAuth && !flags.authorizationMode.includes('AlwaysAllow'),
  };
}

function tokenWebhookOptions(flags: ServerFlags): TokenWebhookOptions {
  return {
    configFile: flags.authenticationTokenWebhookConfigFile,
    version: flags.authenticationTokenWebhookVersion,
    ttlMs: flags.authenticationTokenWebhookCacheTtlMs,
  };
}

function requestHeaderLists(flags: ServerFlags): readonly (readonly [string, readonly string[]])[] {
  return [
    ['--requestheader-username-headers', flags.requestheaderUsernameHeaders],
    ['--requestheader-group-headers', flags.requestheaderGroupHeaders],
    ['--requestheader-extra-headers-prefix', flags.requestheaderExtraHeadersPrefix],
    ['--requestheader-allowed-names', flags.requestheaderAllowedNames],
  ];
}

function requestHeaderOptions(flags: ServerFlags): RequestHeaderOptions | undefined {
  if (flags.requestheaderClientCaFile === '') return undefined;
  return {
    caFile: flags.requestheaderClientCaFile,
    allowedNames: flags.requestheaderAllowedNames,
    usernameHeaders: flags.requestheaderUsernameHeaders,
    groupHeaders: flags.requestheaderGroupHeaders,
    extraHeaderPrefixes: flags.requestheaderExtraHeadersPrefix,
  };
}
