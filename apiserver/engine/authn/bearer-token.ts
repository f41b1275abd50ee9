import type { Exchange } from '../request/exchange';
import type { Authenticator, AuthResult } from './authenticator';
import { unauthorized } from './authenticator';
import type { TokenAuthenticator } from './token-authenticator';

/**
 * Authenticates by `Authorization: Bearer <token>`. Returns undefined without such a header. Refuses a token that is unknown to `tokens` or not
 * valid for one of the `audiences`.
 */
export function bearerToken(tokens: TokenAuthenticator, audiences: readonly string[]): Authenticator {
  return async (exchange) => {
    const token = bearerTokenOf(exchange.headers.authorization);
    return token === undefined ? undefined : bearerOf(exchange, { tokens, token, audiences });
  };
}

/** Authenticates a token and adds its annotations to the audit event. Throws Unauthorized for an unknown token. */
export async function bearerOf(
  { signal, audit }: Pick<Exchange, 'signal' | 'audit'>,
  asked: {
    readonly tokens: TokenAuthenticator;
    readonly token: string;
    readonly audiences: readonly string[];
  },
): Promise<AuthResult> {
  const { tokens, token, audiences } = asked;
  const result = await tokens({ token, audiences }, signal);
  if (result === undefined) throw unauthorized('no authenticator knows the bearer token');
  if (audit !== undefined && result.notes !== undefined) {
    for (const [annotation, note] of Object.entries(result.notes)) audit.annotate(annotation, note);
  }
  return result;
}

/** Parses the token of an Authorization header; undefined for an empty token or another scheme. */
export function bearerTokenOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const [scheme = '', token = ''] = header.trim().split(' ', 2);
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}
