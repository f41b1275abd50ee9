import { webhookConfigurationTable } from './columns';
import { webhookConfigurationRules } from './webhooks-rules';
import type { Kind } from '../kind';
import { kindsOf } from '../kind';

const webhookConfiguration: Kind = {
  strategy: { tracksGeneration: true, requiresResourceVersion: true, ...webhookConfigurationRules },
  table: webhookConfigurationTable,
};

export const admissionregistration = kindsOf('admissionregistration', {
  mutatingwebhookconfigurations: webhookConfiguration,
  validatingwebhookconfigurations: webhookConfiguration,
});
