import { kindsOf } from '../kind';
import { ingressClasses } from './ingress-classes';
import { ingresses } from './ingresses';
import { networkPolicies } from './network-policies';

export const networking = kindsOf('networking', {
  ingressclasses: ingressClasses,
  ingresses,
  networkpolicies: networkPolicies,
});
