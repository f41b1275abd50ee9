import type { Exchange } from '../request/exchange';
import type { Authenticator, AuthResult } from './authenticator';
import { unauthorized } from './authenticator';
import type { TokenAuthenticator } from './token-authenticator';

/**
 * Authenticates by `Authorization: Bearer <token>`. A request without such a header is left to others; a token that `tokens` does not
 * know, or that is meant for others than the `audiences` of this API, is refused.
 */
export function bearerToken(tokens: TokenAuthenticator, audiences: readonly string[]): Authenticator {
  return async (exchange) => {
    const token = bearerTokenOf(exchange.headers.authorization);
    return token === undefined ? undefined : bearerOf(exchange, { tokens, token, audiences });
  };
}

/** Whose token a request carries. Throws Unauthorized for a token that nobody knows. What is worth noting goes to the audit event. */
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

/** The token of an Authorization header. An empty one counts as none, and so does another scheme. */
export function bearerTokenOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const [scheme = '', token = ''] = header.trim().split(' ');
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}
