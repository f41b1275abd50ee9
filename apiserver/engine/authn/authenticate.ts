import { performance } from 'node:perf_hooks';
import type { Stage } from '../request/exchange';
import { addAccessCondition } from '../request/access-condition';
import type { AuthenticationCounts } from './authentication-counts';
import type { Authenticator, AuthResult } from './authenticator';
import { ANONYMOUS, firstOf, unauthorized, withAuthenticatedGroup } from './authenticator';

export interface AuthenticateOptions {
  /** Called in this order. */
  readonly authenticators: readonly Authenticator[];
  /** Whether requests without a credential are anonymous. An invalid credential is always 401. */
  readonly anonymous: boolean;
  /** Absent: nothing is counted. */
  readonly counts?: Pick<AuthenticationCounts, 'observe'> | undefined;
}

/** Creates the authentication stage, which sets `exchange.user` or answers 401. */
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
    if (result === undefined) throw unauthorized('the request has no credential');
    const { user, ground } = result;
    exchange.user = withAuthenticatedGroup(user);
    if (ground !== undefined) addAccessCondition(exchange, ground);
    await next();
  };
}
