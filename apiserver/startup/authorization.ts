import type { RemoteOptions } from '../access/webhook/questions';
import { accessControlOf } from '../access/authorization/modes';
import type { Policies } from '../access/authorization/rbac/policies';
import { createAccessReviewCall } from '../access/authorization/webhook/access-review-call';
import { webhookAccess } from '../access/authorization/webhook/webhook-access';
import type { AccessControl } from '../exchange/access';
import type { ServerOptions } from './options/server-options';

type AuthorizationOptions = Pick<ServerOptions, 'authorizationModes' | 'authorizationWebhook'>;

/** Who may do what, given the roles and bindings. Throws KubeconfigError for a file of the webhook that cannot be used. */
export function createAuthorization(
  { authorizationModes, authorizationWebhook }: AuthorizationOptions,
  remote: RemoteOptions,
): (policies: Policies) => AccessControl {
  const webhook =
    authorizationWebhook === undefined
      ? undefined
      : webhookAccess({
          ...remote,
          ...authorizationWebhook,
          ask: createAccessReviewCall(authorizationWebhook),
        });
  return (policies) => accessControlOf(authorizationModes, policies, webhook);
}
