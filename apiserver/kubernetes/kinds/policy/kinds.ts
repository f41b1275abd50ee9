import { kindsOf } from '../kind';
import { podDisruptionBudgets } from './pod-disruption-budgets';
import { podSecurityPolicies } from './pod-security-policies';

export const policy = kindsOf('policy', {
  poddisruptionbudgets: podDisruptionBudgets,
  podsecuritypolicies: podSecurityPolicies,
});
