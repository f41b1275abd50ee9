import { StatusError } from '../../../shared/errors/status-error';
import type { GroupVersionResource } from '../../../shared/object/object';

/** Nothing is created any more of a resource whose definition is being deleted. In the words of v1.21. */
export function definitionTerminating({
  group,
  resource,
}: Pick<GroupVersionResource, 'group' | 'resource'>): StatusError {
  const message = 'create not allowed while custom resource definition is terminating';
  return new StatusError('MethodNotAllowed', message, { details: { group, kind: resource } });
}

/** An object that a webhook could not bring into another version. As in v1.21 the message stands by itself, without a reason. */
export function conversionError(cause: unknown): StatusError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StatusError('', message, { code: INTERNAL_ERROR, cause });
}

const INTERNAL_ERROR = 500;
const RETRY_AFTER_SECONDS = 1;

/** The definition changed while a request for its objects was under way, so that this must begin anew. */
export class DefinitionChangedError extends StatusError {
  constructor() {
    super('ServiceUnavailable', 'the definition of the resource is being changed, please try again', {
      details: { retryAfterSeconds: RETRY_AFTER_SECONDS },
    });
  }
}
