import type { PodSecurityPolicySpec } from '../../../../../shared/api/types/policy-v1beta1';
import { invalid } from '../../../../../shared/errors/field-error';
import type { PodStrategy } from '../strategy';
import { ANYTHING } from '../strategy';

const ALL = '*';

/** By which runtime a pod may run, and by which it does unless it says. */
export function runtimeClassStrategy({ runtimeClass }: PodSecurityPolicySpec): PodStrategy {
  if (runtimeClass === undefined) return ANYTHING;
  const { defaultRuntimeClassName: fallback } = runtimeClass;
  const allowed = runtimeClass.allowedRuntimeClassNames ?? [];
  return {
    fill: (pod) =>
      pod.spec.runtimeClassName === undefined && fallback !== undefined
        ? { ...pod, spec: { ...pod.spec, runtimeClassName: fallback } }
        : pod,
    problems: ({ spec: { runtimeClassName: name } }) =>
      name === undefined || allowed.includes(ALL) || allowed.includes(name)
        ? []
        : [invalid('spec.runtimeClassName', name, '')],
  };
}
