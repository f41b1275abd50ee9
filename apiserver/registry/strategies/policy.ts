import { GROUP } from '../../../shared/names';
import type { Strategy } from '../strategy';
import { disruptionBudgetRules } from '../validation/disruption-budgets';
import { podSecurityPolicyRules } from '../validation/pod-security-policies';

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
  },
};
