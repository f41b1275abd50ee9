import type { PodSecurityPolicySpec } from '../../../../../shared/api/types/policy-v1beta1';
import { invalid } from '../../../../../shared/errors/field-error';
import type { ContainerStrategy } from '../strategy';
import { NOTHING } from '../strategy';

export function privilegedStrategy({ privileged: mayBe = false }: PodSecurityPolicySpec): ContainerStrategy {
  return {
    problems: ({ effective: { privileged }, path }) =>
      privileged === true && !mayBe
        ? [invalid(`${path}.securityContext.privileged`, true, 'Privileged containers are not allowed')]
        : [],
  };
}

const DEFAULT_PROC_MOUNT = 'Default';

export function procMountStrategy({
  allowedProcMountTypes: types = [],
}: PodSecurityPolicySpec): ContainerStrategy {
  const allowed = types.length === 0 ? [DEFAULT_PROC_MOUNT] : types;
  return {
    problems: ({ effective: { procMount = DEFAULT_PROC_MOUNT }, path }) =>
      allowed.includes(procMount)
        ? []
        : [invalid(`${path}.securityContext.procMount`, procMount, 'ProcMountType is not allowed')],
  };
}

export function readOnlyRootStrategy({
  readOnlyRootFilesystem: mustBe = false,
}: PodSecurityPolicySpec): ContainerStrategy {
  if (!mustBe) return {};
  return {
    fill: ({ readOnlyRootFilesystem }) =>
      readOnlyRootFilesystem === undefined ? { readOnlyRootFilesystem: true } : NOTHING,
    problems({ effective: { readOnlyRootFilesystem: isReadOnly }, path }) {
      if (isReadOnly === true) return [];
      const why =
        isReadOnly === undefined
          ? 'ReadOnlyRootFilesystem may not be nil and must be set to true'
          : 'ReadOnlyRootFilesystem must be set to true';
      return [invalid(`${path}.securityContext.readOnlyRootFilesystem`, isReadOnly, why)];
    },
  };
}

/** Whether a process may gain more privileges than its parent. */
export function escalationStrategy({
  defaultAllowPrivilegeEscalation: fallback,
  allowPrivilegeEscalation: mayBe = true,
}: PodSecurityPolicySpec): ContainerStrategy {
  const filled = fallback ?? (mayBe ? undefined : false);
  return {
    fill: ({ allowPrivilegeEscalation }) =>
      allowPrivilegeEscalation === undefined && filled !== undefined
        ? { allowPrivilegeEscalation: filled }
        : NOTHING,
    problems({ effective: { allowPrivilegeEscalation: wanted }, path }) {
      if (mayBe || wanted === false) return [];
      const why = 'Allowing privilege escalation for containers is not allowed';
      return [invalid(`${path}.securityContext.allowPrivilegeEscalation`, wanted, why)];
    },
  };
}
