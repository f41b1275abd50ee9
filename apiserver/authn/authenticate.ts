import type { Stage } from '../exchange/exchange';
import type { Authenticator } from './authenticator';
import { anonymous, firstOf, unauthorized, withAuthenticatedGroup } from './authenticator';

export interface AuthenticateOptions {
  /** Asked in this order. */
  readonly authenticators: readonly Authenticator[];
  /** Let requests without any credential in, as the anonymous user. A wrong credential is 401 all the same. */
  readonly anonymous: boolean;
}

/** The stage that sets `exchange.user`, or answers 401. */
export function authenticate(options: AuthenticateOptions): Stage {
  const known = firstOf(options.authenticators);
  return async (exchange, next) => {
    const result = (await known(exchange)) ?? (options.anonymous ? await anonymous(exchange) : undefined);
    if (result === undefined) throw unauthorized('the request carries no credential');
    exchange.user = withAuthenticatedGroup(result.user);
    await next();
  };
}
