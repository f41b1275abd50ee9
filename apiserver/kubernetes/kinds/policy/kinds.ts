import { pathSegmentName } from '../../../../shared/meta/name-rules';
import { podDisruptionBudgetTable, podSecurityPolicyTable } from './columns';
import { disruptionBudgetRules } from './disruption-budgets-rules';
import { podSecurityPolicies } from './pod-security-policies-strategy';
import { kindsOf } from '../kind';

export const policy = kindsOf('policy', {
  poddisruptionbudgets: {
    strategy: {
      nameRule: pathSegmentName,
      metadataChecks: 'afterwards',
      tracksGeneration: true,
      requiresResourceVersion: true,
      ...disruptionBudgetRules,
    },
    table: podDisruptionBudgetTable,
  },
  podsecuritypolicies: { strategy: podSecurityPolicies, table: podSecurityPolicyTable },
});
