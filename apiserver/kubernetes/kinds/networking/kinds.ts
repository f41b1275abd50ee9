import { GROUP } from '../../../../shared/names';
import { ingressClassTable, ingressTable, networkPolicyTable } from './columns';
import { ingressClasses } from './ingress-classes-strategy';
import { ingressRules } from './ingresses-rules';
import { networkPolicies } from './network-policies-strategy';
import { kindsOf } from '../kind';

export const networking = kindsOf('networking', {
  ingressclasses: { strategy: ingressClasses, table: ingressClassTable },
  ingresses: {
    strategy: { tracksGeneration: true, groupInErrors: GROUP.extensions, ...ingressRules },
    table: ingressTable,
  },
  networkpolicies: {
    strategy: networkPolicies,
    table: networkPolicyTable,
  },
});
