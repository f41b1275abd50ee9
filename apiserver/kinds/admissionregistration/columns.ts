import type { RowOf } from '../columns/cells';
import { ageOf, listAt, nameOf } from '../columns/read';

export const webhookConfigurationRow: RowOf = (configuration) => [
  nameOf(configuration),
  listAt(configuration, 'webhooks').length,
  ageOf(configuration),
];
