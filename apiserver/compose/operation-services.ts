import type { Authentication } from './authentication';
import { tokenReviewer } from '../engine/authn/token-authenticator';
import type { AccessControl } from '../engine/request/access';
import type { OperationServices } from '../engine/registry/operation';
import type { OpenedStore } from '../engine/storage/open';

export interface OperationParts {
  readonly authentication: Authentication;
  readonly access: AccessControl;
  readonly opened: Pick<OpenedStore, 'backend' | 'names' | 'trouble'>;
}

/** Builds the services for reviews and component statuses, with the same authenticators and authorizers as requests. */
export function operationServices({ authentication, access, opened }: OperationParts): OperationServices {
  const { tokens, accountTokens } = authentication;
  const { backend, names, trouble } = opened;
  return {
    reviewToken: tokenReviewer(tokens),
    apiAudiences: accountTokens.apiAudiences,
    accountTokens: accountTokens.issuing,
    ...access,
    components: [
      {
        name: names.component,
        check: async (signal) => {
          await backend.currentRevision(signal);
          const why = trouble?.();
          if (why !== undefined) throw new Error(why);
        },
      },
    ],
  };
}
