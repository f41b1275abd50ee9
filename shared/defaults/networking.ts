import type { Part } from '../object/object';
import type { EndpointPort } from '../api/types/discovery-v1';
import type { NetworkPolicySpec } from '../api/types/networking-v1';
import type { DefaultsTable, MessageDefaults } from './contract';

/** In v1 the client has to say. */
const pathOfBeta: MessageDefaults<{ readonly pathType?: string }> = {
  values: { pathType: 'ImplementationSpecific' },
};
const endpointPort: MessageDefaults<EndpointPort> = { values: { name: '', protocol: 'TCP' } };

export const NETWORKING: DefaultsTable = {
  'extensions/v1beta1.HTTPIngressPath': pathOfBeta,
  'networking/v1beta1.HTTPIngressPath': pathOfBeta,
  'networking/v1.NetworkPolicyPort': { values: { protocol: 'TCP' } },
  'networking/v1.NetworkPolicySpec': { derive: ofPolicy },
};

export const DISCOVERY: DefaultsTable = {
  'discovery/v1.EndpointPort': endpointPort,
  'discovery/v1beta1.EndpointPort': endpointPort,
};

/** A policy is about incoming traffic, and about outgoing traffic when it has rules for that. */
function ofPolicy({ policyTypes = [], egress = [] }: NetworkPolicySpec): Part<NetworkPolicySpec> | undefined {
  if (policyTypes.length > 0) return undefined;
  return { policyTypes: egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'] };
}
