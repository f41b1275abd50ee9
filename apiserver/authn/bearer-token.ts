import type { Authenticator, AuthResult } from './authenticator';
import { unauthorized } from './authenticator';

/** Looks up one kind of token. Undefined means the token is not of this kind or not known. */
export type TokenAuthenticator = (token: string, signal: AbortSignal) => Promise<AuthResult | undefined>;

/**
 * Authenticates by `Authorization: Bearer <token>`. A request without such a header is left to others; a token that none of
 * `kinds` knows is refused.
 */
export function bearerToken(kinds: readonly TokenAuthenticator[]): Authenticator {
  return async (exchange) => {
    const token = bearerTokenOf(exchange.headers.authorization);
    if (token === undefined) return undefined;
    for (const kind of kinds) {
      const result = await kind(token, exchange.signal);
      if (result !== undefined) return result;
    }
    throw unauthorized('no authenticator knows the bearer token');
  };
}

/** The token of an Authorization header. An empty one counts as none, and so does another scheme. */
export function bearerTokenOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const [scheme = '', token = ''] = header.trim().split(' ');
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}
