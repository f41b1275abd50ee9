import type { Part } from '../object/object';
import type { NetworkPolicySpec } from '../api/types/networking-v1';
import type { DefaultsTable, MessageDefaults } from './contract';
import type { EndpointPort } from '../api/types/discovery-v1';

/** Clients of v1 must set it. */
const pathOfBeta: MessageDefaults<{ readonly pathType?: string }> = {
  values: { pathType: 'ImplementationSpecific' },
};

export const NETWORKING: DefaultsTable = {
  'extensions/v1beta1.HTTPIngressPath': pathOfBeta,
  'networking/v1beta1.HTTPIngressPath': pathOfBeta,
  'networking/v1.NetworkPolicyPort': { values: { protocol: 'TCP' } },
  'networking/v1.NetworkPolicySpec': { derive: ofPolicy },
};

/** A policy applies to ingress, and to egress when it has egress rules. */
function ofPolicy({ policyTypes = [], egress = [] }: NetworkPolicySpec): Part<NetworkPolicySpec> | undefined {
  if (policyTypes.length > 0) return undefined;
  return { policyTypes: egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'] };
}

const endpointPort: MessageDefaults<EndpointPort> = { values: { name: '', protocol: 'TCP' } };

export const DISCOVERY: DefaultsTable = {
  'discovery/v1.EndpointPort': endpointPort,
  'discovery/v1beta1.EndpointPort': endpointPort,
};
