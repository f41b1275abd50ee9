import { StatusError } from '../../../shared/errors/status-error';
import { USER, USER_GROUP } from '../../../shared/names';
import type { Exchange, UserInfo } from '../request/exchange';
import type { AccessCondition } from '../request/access-condition';

export interface AuthResult {
  readonly user: UserInfo;
  /** What ends before a watch does, where anything does. It must not hold the credential itself. Called for watches only. */
  readonly ground?: (() => AccessCondition) | undefined;
}

/**
 * One way to learn who is asking. Undefined means the request carries nothing for this way; a request whose credential is for this
 * way and wrong is refused by throwing a StatusError with reason Unauthorized.
 */
export type Authenticator = (exchange: Exchange) => Promise<AuthResult | undefined>;

/** What somebody's identity hangs on. `problem` says why it is over; undefined while it is not. */
export function identityGround(
  key: unknown,
  problem: (signal: AbortSignal) => Promise<string | undefined>,
): AccessCondition {
  return {
    key,
    of: 'identity',
    refusal: async (signal) => {
      const why = await problem(signal);
      return why === undefined ? undefined : unauthorized(why);
    },
  };
}

/** What every refusal of a credential looks like: the client is not told what was wrong with it. `why` is for the log only. */
export function unauthorized(why: string): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized', { cause: new Error(why) });
}

/** What was wrong with a refused credential; undefined for an error that is no refusal. */
export function whyUnauthorized(error: unknown): string | undefined {
  if (!isRefusal(error)) return undefined;
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function isRefusal(error: unknown): error is StatusError {
  return error instanceof StatusError && error.status.reason === 'Unauthorized';
}

/**
 * Asks one after the other; the first that knows the user wins. A refusal counts only if no other one knows the user: then it is
 * thrown. What is no refusal is thrown at once: who could not look does not know that nobody is there. Undefined when the request carries
 * no credential at all.
 */
export function firstOf(authenticators: readonly Authenticator[]): Authenticator {
  return async (exchange) => {
    let refusal: StatusError | undefined;
    for (const authenticator of authenticators) {
      try {
        const result = await authenticator(exchange);
        if (result !== undefined) return result;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refusal ??= error;
      }
    }
    if (refusal !== undefined) throw refusal;
    return undefined;
  };
}

/** Who carries no credential at all; a wrong one is refused. */
export const ANONYMOUS: AuthResult = {
  user: { name: USER.anonymous, uid: '', groups: [USER_GROUP.unauthenticated], extra: {} },
};

/** Everyone who proved who they are is also a member of the group of the authenticated. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  const isMarked =
    user.name === USER.anonymous ||
    user.groups.includes(USER_GROUP.authenticated) ||
    user.groups.includes(USER_GROUP.unauthenticated);
  if (isMarked) return user;
  const { name, uid, groups, extra } = user;
  return { name, uid, groups: groups.concat(USER_GROUP.authenticated), extra };
}
