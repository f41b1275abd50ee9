import { performance } from 'node:perf_hooks';
import type { Exchange, Stage } from '../../exchange/exchange';
import { addGround } from '../../exchange/ground';
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
  const identify = async (exchange: Exchange): Promise<AuthResult | undefined> => {
    const startedAt = performance.now();
    try {
      const result = (await known(exchange)) ?? (options.anonymous ? ANONYMOUS : undefined);
      const outcome = result === undefined ? 'failure' : 'success';
      counts?.observe(outcome, performance.now() - startedAt, result?.user.name);
      return result;
    } catch (error) {
      counts?.observe('error', performance.now() - startedAt);
      throw error;
    }
  };
  return async (exchange, next) => {
    const result = await identify(exchange);
    if (result === undefined) throw unauthorized('the request carries no credential');
    exchange.user = withAuthenticatedGroup(result.user);
    addGround(exchange, () => result.ground?.());
    await next();
  };
}
