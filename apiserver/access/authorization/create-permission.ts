import type { Admission, AdmissionAttributes } from '../../registry/admission';
import type { Authorizer } from '../../exchange/access';
import { forbidden, internalError } from '../../../shared/errors/status-error';

/**
 * Whoever may change objects may not make them by a change: where a PUT or an apply creates what is not there, its user must be allowed
 * to create as well. Forbidden otherwise, and InternalError where that is not known; it stands where validating admission does, so that an
 * object that is invalid is told of first.
 */
export function withCreatePermission(admission: Admission, authorize: Authorizer): Admission {
  return {
    mutate: async (attributes, signal) => admission.mutate(attributes, signal),
    validate: async (attributes, signal) => {
      if (isCreatedByChange(attributes)) await checkCreate(authorize, attributes, signal);
      await admission.validate(attributes, signal);
    },
  };
}

/** A POST has the name of the new object in its body, and not in its path. */
function isCreatedByChange({ operation, subresource, nameInPath }: AdmissionAttributes): boolean {
  return operation === 'CREATE' && subresource === '' && nameInPath !== undefined;
}

async function checkCreate(
  authorize: Authorizer,
  { user, endpoint, namespace, name }: AdmissionAttributes,
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
