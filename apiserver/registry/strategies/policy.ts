import { GROUP } from '../../../shared/names';
import type { ApiObject } from '../../../shared/meta/object';
import type { Strategy } from '../strategy';
import { record, strings } from '../../../shared/meta/accessors';
import { disruptionBudgetRules } from '../validation/disruption-budgets';
import { podSecurityPolicyRules } from '../validation/pod-security-policies';

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
