import { StatusError } from '../../../shared/errors/status-error';
import type { GroupVersionResource } from '../../../shared/object/object';

/**
 * Creations are refused while the definition of the resource is being deleted. The message text is that of
 * v1.21.
 */
export function definitionTerminating({
  group,
  resource,
}: Pick<GroupVersionResource, 'group' | 'resource'>): StatusError {
  const message = 'create not allowed while custom resource definition is terminating';
  return new StatusError('MethodNotAllowed', message, { details: { group, kind: resource } });
}

/** A conversion webhook could not convert an object. As in v1.21, the Status has no reason. */
export function conversionError(cause: unknown): StatusError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StatusError('', message, { code: INTERNAL_ERROR, cause });
}

const INTERNAL_ERROR = 500;
const RETRY_AFTER_SECONDS = 1;

/** The definition changed during a request for its objects, which has to be retried. */
export class DefinitionChangedError extends StatusError {
  constructor() {
    super('ServiceUnavailable', 'the definition of the resource is being changed, please try again', {
      details: { retryAfterSeconds: RETRY_AFTER_SECONDS },
    });
  }
}
