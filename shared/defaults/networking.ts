import type { Json } from '../conversion/json';
import { objectsAt } from '../conversion/json';
import type { DefaultsTable, MessageDefaults } from './contract';

/** In v1 the client has to say. */
const pathOfBeta: MessageDefaults = { values: { pathType: 'ImplementationSpecific' } };
const endpointPort: MessageDefaults = { values: { name: '', protocol: 'TCP' } };

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
function ofPolicy(spec: Json): Json | undefined {
  const types = spec['policyTypes'];
  if (Array.isArray(types) && types.length > 0) return undefined;
  return { policyTypes: objectsAt(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress'] };
}
