import type { Authorizer } from '../request/access';
import type { WriteCheck } from '../registry/admission';
import type { WriteRequest } from '../registry/write-request';
import { forbidden, internalError } from '../../../shared/errors/status-error';

/**
 * Requires the `create` permission for a PUT or an apply that creates its object. Rejects with Forbidden, or InternalError after an authorizer
 * error.
 */
export function requireCreate(authorize: Authorizer): WriteCheck {
  return ({ write }, signal) => (isByChange(write) ? checkCreate(authorize, write, signal) : undefined);
}

/** A POST names the new object in its body, not in its path; writes of the server itself have no path. */
function isByChange({ subresource, nameInPath = '' }: WriteRequest): boolean {
  return subresource === '' && nameInPath !== '';
}

async function checkCreate(
  authorize: Authorizer,
  { user, endpoint, namespace, name }: WriteRequest,
  signal: AbortSignal,
): Promise<void> {
  const { group, version, resource } = endpoint.row;
  const question = {
    user,
    verb: 'create',
    isResourceRequest: true,
    path: '',
    apiGroup: group,
    apiVersion: version,
    namespace,
    resource,
    subresource: '',
    name,
  };
  const { decision, reason, error } = await authorize(question, signal);
  if (decision === 'allow') return;
  throw error === undefined ? forbidden({ group, resource }, name, reason) : internalError(error);
}
