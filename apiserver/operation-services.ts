import type { Authentication } from './authentication';
import { tokenReviewer } from './authn/token-authenticator';
import type { Authorizer } from './exchange/access';
import { rulesWithoutRules } from './authz/rules';
import type { OpenBackend } from './open-backend';
import type { OperationServices } from './registry/virtual/operation';

export interface OperationParts {
  readonly authentication: Authentication;
  readonly authorizer: Authorizer;
  readonly opened: OpenBackend;
}

/** What reviews and component statuses are answered from: the very authenticators and authorizers that requests pass. */
export function operationServices({ authentication, authorizer, opened }: OperationParts): OperationServices {
  const { tokens, accountTokens } = authentication;
  const { backend, name } = opened;
  return {
    reviewToken: tokenReviewer(tokens),
    apiAudiences: accountTokens.apiAudiences,
    accountTokens: accountTokens.issuing,
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
