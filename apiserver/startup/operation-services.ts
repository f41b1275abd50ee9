import type { Authentication } from './authentication';
import { tokenReviewer } from '../access/authentication/token-authenticator';
import type { AccessControl } from '../exchange/access';
import type { OpenBackend } from './open-backend';
import type { OperationServices } from '../registry/operation';

export interface OperationParts {
  readonly authentication: Authentication;
  readonly access: AccessControl;
  readonly opened: OpenBackend;
}

/** What reviews and component statuses are answered from: the very authenticators and authorizers that requests pass. */
export function operationServices({ authentication, access, opened }: OperationParts): OperationServices {
  const { tokens, accountTokens } = authentication;
  const { backend, name } = opened;
  return {
    reviewToken: tokenReviewer(tokens),
    apiAudiences: accountTokens.apiAudiences,
    accountTokens: accountTokens.issuing,
    ...access,
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
