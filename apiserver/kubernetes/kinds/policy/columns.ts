import type { PodDisruptionBudget } from '../../../../shared/api/types/policy-v1';
import type { PodSecurityPolicy } from '../../../../shared/api/types/policy-v1beta1';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';

const NOT_GIVEN = 'N/A';

export const podDisruptionBudgetTable = tableOf<PodDisruptionBudget>([
  NAME,
  { name: 'Min Available', cell: ({ spec }) => String(spec.minAvailable ?? NOT_GIVEN) },
  { name: 'Max Unavailable', cell: ({ spec }) => String(spec.maxUnavailable ?? NOT_GIVEN) },
  { name: 'Allowed Disruptions', type: 'integer', cell: ({ status }) => status?.disruptionsAllowed ?? 0 },
  AGE,
]);

export const podSecurityPolicyTable = tableOf<PodSecurityPolicy>([
  NAME,
  { name: 'Priv', cell: ({ spec }) => String(spec.privileged ?? false) },
  { name: 'Caps', cell: ({ spec }) => (spec.allowedCapabilities ?? []).join(',') },
  { name: 'SELinux', cell: ({ spec }) => spec.seLinux.rule },
  { name: 'RunAsUser', cell: ({ spec }) => spec.runAsUser.rule },
  { name: 'FsGroup', cell: ({ spec }) => spec.fsGroup.rule ?? '' },
  { name: 'SupGroup', cell: ({ spec }) => spec.supplementalGroups.rule ?? '' },
  { name: 'ReadOnlyRootFs', cell: ({ spec }) => spec.readOnlyRootFilesystem ?? false },
  { name: 'Volumes', cell: ({ spec }) => (spec.volumes ?? []).join(',') },
]);
