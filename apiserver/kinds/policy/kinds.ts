import { GROUP } from '../../../shared/names';
import { pathSegmentName } from '../../../shared/meta/name-rules';
import { podDisruptionBudgetRow, podSecurityPolicyRow } from './columns';
import { disruptionBudgetRules } from './disruption-budgets-rules';
import { podSecurityPolicies } from './pod-security-policies-strategy';
import type { KindGroup } from '../kind';

export const policy: KindGroup = {
  group: GROUP.policy,
  kinds: {
    poddisruptionbudgets: {
      strategy: {
        nameRule: pathSegmentName,
        tracksGeneration: true,
        requiresResourceVersion: true,
        ...disruptionBudgetRules,
      },
      row: podDisruptionBudgetRow,
    },
    podsecuritypolicies: { strategy: podSecurityPolicies, row: podSecurityPolicyRow },
  },
};
