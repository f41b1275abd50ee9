import { StatusError, internalError } from '../../shared/errors/status-error';
import type { GroupVersionResource } from '../../shared/object/object';

/** Nothing is created any more of a resource whose definition is being deleted. In the words of v1.21. */
export function definitionTerminating({
  group,
  resource,
}: Pick<GroupVersionResource, 'group' | 'resource'>): StatusError {
  const message = 'create not allowed while custom resource definition is terminating';
  return new StatusError('MethodNotAllowed', message, { details: { group, kind: resource } });
}

/** An object that only a webhook can bring into another version. As upstream answers when it cannot reach the webhook. */
export function conversionFailed(apiVersion: string, kind: string): StatusError {
  const why = 'this server does not call conversion webhooks';
  return internalError(new Error(`conversion webhook for ${apiVersion}, Kind=${kind} failed: ${why}`));
}

const RETRY_AFTER_SECONDS = 1;

/** The definition changed while a request for its objects was under way, so that this must begin anew. */
export class DefinitionChangedError extends StatusError {
  constructor() {
    super('ServiceUnavailable', 'the definition of the resource is being changed, please try again', {
      details: { retryAfterSeconds: RETRY_AFTER_SECONDS },
    });
  }
}
