import { GROUP } from '../../../shared/names';
import { ingressClassRow, ingressRow, networkPolicyRow } from './columns';
import { ingressClasses } from './ingress-classes-strategy';
import { ingressRules } from './ingresses-rules';
import { networkPolicyRules } from './network-policies-rules';
import type { KindGroup } from '../kind';

export const networking: KindGroup = {
  group: GROUP.networking,
  kinds: {
    ingressclasses: { strategy: ingressClasses, row: ingressClassRow },
    ingresses: {
      strategy: { tracksGeneration: true, groupInErrors: GROUP.extensions, ...ingressRules },
      row: ingressRow,
    },
    networkpolicies: {
      strategy: { tracksGeneration: true, groupInErrors: GROUP.extensions, ...networkPolicyRules },
      row: networkPolicyRow,
    },
  },
};
