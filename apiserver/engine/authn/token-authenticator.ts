import type { TokenQuestion, TokenReviewResult } from '../registry/operation';
import type { AuthResult } from './authenticator';
import { unauthorized, whyUnauthorized, withAuthenticatedGroup } from './authenticator';

/** The user of a token, and the requested audiences that it is valid for: at least one, in the requested order. */
export interface TokenResult extends AuthResult {
  readonly audiences: readonly string[];
  /** Annotations for the audit event of a request with the token. */
  readonly notes?: Readonly<Record<string, string>>;
}

/**
 * Authenticates one kind of token. Returns undefined if the token is not of this kind or unknown. Throws `unauthorized` for an invalid token of
 * this kind; token reviews report the reason.
 */
export type TokenAuthenticator = (
  question: TokenQuestion,
  signal: AbortSignal,
) => Promise<TokenResult | undefined>;

/** Wraps the lookup of a kind of token without audiences: such tokens are valid for the audiences of this API only. */
export function meantForApi(
  apiAudiences: readonly string[],
  lookUp: (token: string, signal: AbortSignal) => Promise<Omit<TokenResult, 'audiences'> | undefined>,
): TokenAuthenticator {
  return async (question, signal) => {
    const audiences = question.audiences.filter((each) => apiAudiences.includes(each));
    if (audiences.length === 0) return undefined;
    const found = await lookUp(question.token, signal);
    if (found === undefined) return undefined;
    const { user, ground, notes } = found;
    return notes === undefined ? { user, ground, audiences } : { user, ground, notes, audiences };
  };
}

/** Tries each kind in order; the first that accepts the token wins. If none does, throws Unauthorized with the reasons of all that refused. */
export function firstTokenOf(kinds: readonly TokenAuthenticator[]): TokenAuthenticator {
  return async (question, signal) => {
    const reasons: string[] = [];
    for (const kind of kinds) {
      try {
        const result = await kind(question, signal);
        if (result !== undefined) return result;
      } catch (error) {
        const why = whyUnauthorized(error);
        if (why === undefined) throw error;
        reasons.push(why);
      }
    }
    if (reasons.length > 0) throw unauthorized(reasons.join(', '));
    return undefined;
  };
}

const UNKNOWN_TOKEN = 'invalid bearer token';

/** Creates the token reviewer: it returns the user of a request with the token, or why the token is refused. */
export function tokenReviewer(
  authenticator: TokenAuthenticator,
): (question: TokenQuestion, signal: AbortSignal) => Promise<TokenReviewResult> {
  return async (question, signal) => {
    try {
      const found = await authenticator(question, signal);
      if (found === undefined) return { isKnown: false, why: UNKNOWN_TOKEN };
      return { isKnown: true, user: withAuthenticatedGroup(found.user), audiences: found.audiences };
    } catch (error) {
      const why = whyUnauthorized(error);
      if (why === undefined) throw error;
      return { isKnown: false, why: `[${UNKNOWN_TOKEN}, ${why}]` };
    }
  };
}
