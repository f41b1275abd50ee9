import { performance } from 'node:perf_hooks';
import type { Stage } from '../request/exchange';
import { addAccessCondition } from '../request/access-condition';
import type { AuthenticationCounts } from './authentication-counts';
import type { Authenticator, AuthResult } from './authenticator';
import { ANONYMOUS, firstOf, unauthorized, withAuthenticatedGroup } from './authenticator';

export interface AuthenticateOptions {
  /** Asked in this order. */
  readonly authenticators: readonly Authenticator[];
  /** Let requests without any credential in, as the anonymous user. A wrong credential is 401 all the same. */
  readonly anonymous: boolean;
  /** Absent: nobody wants to know. */
  readonly counts?: Pick<AuthenticationCounts, 'observe'> | undefined;
}

/** The stage that sets `exchange.user`, or answers 401. */
export function createAuthenticationStage(options: AuthenticateOptions): Stage {
  const known = firstOf(options.authenticators);
  const { counts } = options;
  return async (exchange, next) => {
    const startedAt = performance.now();
    let result: AuthResult | undefined;
    try {
      result = (await known(exchange)) ?? (options.anonymous ? ANONYMOUS : undefined);
    } catch (error) {
      counts?.observe('error', performance.now() - startedAt);
      throw error;
    }
    const outcome = result === undefined ? 'failure' : 'success';
    counts?.observe(outcome, performance.now() - startedAt, result?.user.name);
    if (result === undefined) throw unauthorized('the request carries no credential');
    const { user, ground } = result;
    exchange.user = withAuthenticatedGroup(user);
    if (ground !== undefined) addAccessCondition(exchange, ground);
    await next();
  };
}
