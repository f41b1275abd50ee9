import type { DefaultsTable } from './contract';

export const POLICY: DefaultsTable = {
  'policy/v1beta1.PodSecurityPolicySpec': { values: { allowPrivilegeEscalation: true } },
};
