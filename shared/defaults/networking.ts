import type { Part } from '../object/object';
import type { NetworkPolicySpec } from '../api/types/networking-v1';
import type { DefaultsTable, MessageDefaults } from './contract';

/** In v1 the client has to say. */
const pathOfBeta: MessageDefaults<{ readonly pathType?: string }> = {
  values: { pathType: 'ImplementationSpecific' },
};

export const NETWORKING: DefaultsTable = {
  'extensions/v1beta1.HTTPIngressPath': pathOfBeta,
  'networking/v1beta1.HTTPIngressPath': pathOfBeta,
  'networking/v1.NetworkPolicyPort': { values: { protocol: 'TCP' } },
  'networking/v1.NetworkPolicySpec': { derive: ofPolicy },
};

/** A policy is about incoming traffic, and about outgoing traffic when it has rules for that. */
function ofPolicy({ policyTypes = [], egress = [] }: NetworkPolicySpec): Part<NetworkPolicySpec> | undefined {
  if (policyTypes.length > 0) return undefined;
  return { policyTypes: egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'] };
}
