import type { DefaultsTable, MessageDefaults } from './contract';

const reference: MessageDefaults<{ readonly port?: number }> = { values: { port: 443 } };

export const APIREGISTRATION: DefaultsTable = {
  'apiregistration/v1.ServiceReference': reference,
  'apiregistration/v1beta1.ServiceReference': reference,
};
