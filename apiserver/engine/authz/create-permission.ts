import type { Authorizer } from '../request/access';
import type { WriteCheck } from '../registry/admission';
import type { WriteRequest } from '../registry/write-request';
import { forbidden, internalError } from '../../../shared/errors/status-error';

/**
 * Whoever may change objects may not make them by a change: where a PUT or an apply creates what is not there, its user must be allowed
 * to create as well. Forbidden otherwise, and InternalError where that is not known.
 */
export function requireCreate(authorize: Authorizer): WriteCheck {
  return ({ write }, signal) => (isByChange(write) ? checkCreate(authorize, write, signal) : undefined);
}

/** A POST has the name of the new object in its body, and not in its path; what the server makes by itself has no path. */
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
