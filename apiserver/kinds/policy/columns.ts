import type { RowOf } from '../columns/cells';
import { ageOf, flagAt, nameOf, numberAt, scalarOr, textAt, textsAt } from '../columns/read';

export const podDisruptionBudgetRow: RowOf = (budget) => [
  nameOf(budget),
  scalarOr('N/A', budget, 'spec', 'minAvailable'),
  scalarOr('N/A', budget, 'spec', 'maxUnavailable'),
  numberAt(budget, 'status', 'disruptionsAllowed'),
  ageOf(budget),
];

export const podSecurityPolicyRow: RowOf = (policy) => [
  nameOf(policy),
  String(flagAt(false, policy, 'spec', 'privileged')),
  textsAt(policy, 'spec', 'allowedCapabilities').join(','),
  textAt(policy, 'spec', 'seLinux', 'rule'),
  textAt(policy, 'spec', 'runAsUser', 'rule'),
  textAt(policy, 'spec', 'fsGroup', 'rule'),
  textAt(policy, 'spec', 'supplementalGroups', 'rule'),
  flagAt(false, policy, 'spec', 'readOnlyRootFilesystem'),
  textsAt(policy, 'spec', 'volumes').join(','),
];
