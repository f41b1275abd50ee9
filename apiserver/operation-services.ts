import type { TokenAuthenticator } from './authn/bearer-token';
import { withAuthenticatedGroup } from './authn/authenticator';
import type { Authorizer } from './authz/authorizer';
import { rulesWithoutRules } from './authz/rules';
import type { UserInfo } from './exchange/exchange';
import type { OpenBackend } from './open-backend';
import type { OperationServices } from './registry/virtual/operation';

export interface OperationParts {
  /** Asked in this order. */
  readonly tokens: readonly TokenAuthenticator[];
  readonly authorizer: Authorizer;
  readonly opened: OpenBackend;
}

/** What reviews and component statuses are answered from: the very authenticators and authorizers that requests pass. */
export function operationServices({ tokens, authorizer, opened }: OperationParts): OperationServices {
  const { backend, name } = opened;
  return {
    userOfToken: async (token, signal): Promise<UserInfo | undefined> => {
      for (const authenticator of tokens) {
        const found = await authenticator(token, signal);
        if (found !== undefined) return withAuthenticatedGroup(found.user);
      }
      return undefined;
    },
    apiAudiences: [],
    authorize: authorizer,
    rulesOf: async (user, namespace, signal) => rulesWithoutRules(authorizer, { user, namespace }, signal),
    components: [
      {
        name: name === 'etcd' ? 'etcd-0' : 'store',
        check: async (signal) => {
          await backend.currentRevision(signal);
        },
      },
    ],
  };
}
