import type { TokenQuestion, TokenVerdict } from '../registry/operation';
import type { AuthResult } from './authenticator';
import { unauthorized, whyUnauthorized, withAuthenticatedGroup } from './authenticator';

/** Whose token it is, and for which of the audiences asked about: at least one, in the order of the question. */
export interface TokenResult extends AuthResult {
  readonly audiences: readonly string[];
  /** What is worth noting in the audit event of a request with the token, by annotation. */
  readonly notes?: Readonly<Record<string, string>>;
}

/**
 * Looks up one kind of token. Undefined means the token is not of this kind or not known. One that is of this kind and wrong, or
 * meant for others, may be refused by throwing what `unauthorized` makes; then the reason can be told to who reviews the token.
 */
export type TokenAuthenticator = (
  question: TokenQuestion,
  signal: AbortSignal,
) => Promise<TokenResult | undefined>;

/** A kind of tokens that name no audience: they are meant for this API, and known to nobody who asks for others. */
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

/**
 * Asks one kind after the other; the first that knows the token wins. What one of them refuses another may still know; if none does,
 * the refusal is thrown with the reasons of all.
 */
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

/** Answers reviews of tokens: what a request with the token would be taken for, or why it would be refused. */
export function tokenReviewer(
  authenticator: TokenAuthenticator,
): (question: TokenQuestion, signal: AbortSignal) => Promise<TokenVerdict> {
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
