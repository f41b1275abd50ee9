import { StatusError } from '../../../shared/errors/status-error';
import { USER, USER_GROUP } from '../../../shared/names';
import type { Exchange, UserInfo } from '../request/exchange';
import type { AccessCondition } from '../request/access-condition';

export interface AuthResult {
  readonly user: UserInfo;
  /** Returns the condition under which a watch may stay open; absent: no limit. It must not hold the credential. Called for watches only. */
  readonly ground?: (() => AccessCondition) | undefined;
}

/** One authentication method. Returns undefined without a credential for it; throws a StatusError with reason Unauthorized for an invalid one. */
export type Authenticator = (exchange: Exchange) => Promise<AuthResult | undefined>;

/** Creates the condition that a credential is still valid. `problem` returns why it is not; undefined while it is. */
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

/** Creates the error for an invalid credential. Clients do not see `why`, which is for the log. */
export function unauthorized(why: string): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized', { cause: new Error(why) });
}

/** Returns why a credential is invalid; undefined for another error. */
export function whyUnauthorized(error: unknown): string | undefined {
  if (!isRefusal(error)) return undefined;
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function isRefusal(error: unknown): error is StatusError {
  return error instanceof StatusError && error.status.reason === 'Unauthorized';
}

/**
 * Calls the authenticators in order; the first user wins. If there is none, throws the first refusal. Errors other than 401 propagate at once,
 * because a failed authenticator cannot rule the user out. Returns undefined without any credential.
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

/** The user of requests without a credential. */
export const ANONYMOUS: AuthResult = {
  user: { name: USER.anonymous, uid: '', groups: [USER_GROUP.unauthenticated], extra: {} },
};

/** Adds `system:authenticated` to the groups, except for the anonymous user. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  const isMarked =
    user.name === USER.anonymous ||
    user.groups.includes(USER_GROUP.authenticated) ||
    user.groups.includes(USER_GROUP.unauthenticated);
  if (isMarked) return user;
  const { name, uid, groups, extra } = user;
  return { name, uid, groups: groups.concat(USER_GROUP.authenticated), extra };
}
