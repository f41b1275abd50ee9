import { GROUP } from '../../../shared/names';
import type { Strategy } from '../strategy';
import { ingressClassRules } from '../validation/ingress-classes';
import { ingressRules } from '../validation/ingresses';
import { networkPolicyRules } from '../validation/network-policies';

/** networking; an Ingress of the extensions group is the same object. */
export const networking: Readonly<Record<string, Strategy>> = {
  ingresses: { tracksGeneration: true, groupInErrors: GROUP.extensions, ...ingressRules },
  ingressclasses: { tracksGeneration: true, ...ingressClassRules },
  networkpolicies: { tracksGeneration: true, groupInErrors: GROUP.extensions, ...networkPolicyRules },
};
