import type { PodSecurityPolicySpec } from '../../../../../shared/api/types/policy-v1beta1';
import { invalid } from '../../../../../shared/errors/field-error';
import type { PodStrategy } from '../strategy';
import { ANYTHING } from '../strategy';

const ALL = '*';

/** The allowed and default runtime classes of pods. */
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
