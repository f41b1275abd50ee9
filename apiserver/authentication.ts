import type { AccountTokenContext, AccountTokenParts } from './account-tokens';
import { createAccountTokens } from './account-tokens';
import { authenticate } from './authn/authenticate';
import { bearerToken } from './authn/bearer-token';
import type { TokenAuthenticator } from './authn/token-authenticator';
import { firstTokenOf, meantForApi } from './authn/token-authenticator';
import { tokenFileLookup } from './authn/token-file';
import { webSocketToken } from './authn/web-socket-token';
import type { Stage } from './exchange/exchange';
import type { AuthenticationOptions } from './options/server-options';

/** How a server learns who is asking. */
export interface Authentication {
  readonly stage: Stage;
  /** Every kind of bearer token that the stage knows; reviews of tokens ask the same. */
  readonly tokens: TokenAuthenticator;
  readonly accountTokens: AccountTokenParts;
}

/** Throws an error that names the file when a token or key file cannot be used. */
export function createAuthentication(
  options: AuthenticationOptions,
  context: AccountTokenContext,
): Authentication {
  const { tokenFile, anonymous } = options;
  const accountTokens = createAccountTokens(options.accountTokens, context);
  const { apiAudiences } = accountTokens;
  const ofFile = tokenFile === undefined ? [] : [meantForApi(apiAudiences, tokenFileLookup(tokenFile))];
  const tokens = firstTokenOf([...ofFile, ...accountTokens.authenticators]);
  const authenticators = [bearerToken(tokens, apiAudiences), webSocketToken(tokens, apiAudiences)];
  const stage = authenticate({ authenticators, anonymous });
  return { stage, tokens, accountTokens };
}
