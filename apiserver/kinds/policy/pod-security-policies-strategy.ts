import { GROUP } from '../../../shared/names';
import type { ApiObject } from '../../../shared/object/object';
import { record, strings } from '../../../shared/object/accessors';
import type { Strategy } from '../../registry/strategy';
import { podSecurityPolicyRules } from './pod-security-policies-rules';

export const podSecurityPolicies: Strategy = {
  returnsDeletedObject: true,
  groupInErrors: GROUP.extensions,
  ...podSecurityPolicyRules,
  prepareForCreate: withoutProcMounts,
  prepareForUpdate: (next, previous) => (hasProcMounts(previous) ? next : withoutProcMounts(next)),
};

/** Other mounts of `/proc` belong to a feature that is off in v1.21; a policy that has had them keeps them. */
function withoutProcMounts(object: ApiObject): ApiObject {
  const { allowedProcMountTypes: _types, ...spec } = record(object['spec']);
  return { ...object, spec };
}

function hasProcMounts(object: ApiObject): boolean {
  return strings(record(object['spec'])['allowedProcMountTypes']).length > 0;
}
