import type { EndpointPort } from '../api/types/discovery-v1';
import type { DefaultsTable, MessageDefaults } from './contract';

const endpointPort: MessageDefaults<EndpointPort> = { values: { name: '', protocol: 'TCP' } };

export const DISCOVERY: DefaultsTable = {
  'discovery/v1.EndpointPort': endpointPort,
  'discovery/v1beta1.EndpointPort': endpointPort,
};
