import { GROUP } from '../../../../shared/names';
import type { PodSecurityPolicy } from '../../../../shared/api/types/policy-v1beta1';
import type { Strategy } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { podSecurityPolicyRules } from './pod-security-policies-rules';

export const podSecurityPolicies: Strategy<PodSecurityPolicy> = {
  metadataChecks: 'old names',
  returnsDeletedObject: true,
  groupInErrors: GROUP.extensions,
  ...podSecurityPolicyRules,
  prepareForCreate: (object, { settings }) =>
    isOn(settings, 'ProcMountType') ? object : withoutProcMounts(object),
  prepareForUpdate: (next, previous, { settings }) =>
    isOn(settings, 'ProcMountType') || hasProcMounts(previous) ? next : withoutProcMounts(next),
};

/** Other mounts of `/proc` belong to a feature that is off by default; a policy that has had them keeps them. */
function withoutProcMounts(object: PodSecurityPolicy): PodSecurityPolicy {
  const { allowedProcMountTypes: _types, ...spec } = object.spec;
  return { ...object, spec };
}

function hasProcMounts({ spec: { allowedProcMountTypes: types = [] } }: PodSecurityPolicy): boolean {
  return types.length > 0;
}
