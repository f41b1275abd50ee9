import { GROUP } from '../../../shared/names';
import type { ApiObject } from '../../../shared/object/object';
import type { Strategy } from '../../registry/strategy';
import { record, strings } from '../../../shared/object/accessors';
import { disruptionBudgetRules } from './disruption-budgets-rules';
import { podSecurityPolicyRules } from './pod-security-policies-rules';

/** Other mounts of `/proc` belong to a feature that is off in v1.21; a policy that has had them keeps them. */
function withoutProcMounts(object: ApiObject): ApiObject {
  const { allowedProcMountTypes: _types, ...spec } = record(object['spec']);
  return { ...object, spec };
}

function hasProcMounts(object: ApiObject): boolean {
  return strings(record(object['spec'])['allowedProcMountTypes']).length > 0;
}

/** policy. */
export const policy: Readonly<Record<string, Strategy>> = {
  poddisruptionbudgets: {
    tracksGeneration: true,
    requiresResourceVersion: true,
    ...disruptionBudgetRules,
  },
  podsecuritypolicies: {
    returnsDeletedObject: true,
    groupInErrors: GROUP.extensions,
    ...podSecurityPolicyRules,
    prepareForCreate: withoutProcMounts,
    prepareForUpdate: (next, previous) => (hasProcMounts(previous) ? next : withoutProcMounts(next)),
  },
};
