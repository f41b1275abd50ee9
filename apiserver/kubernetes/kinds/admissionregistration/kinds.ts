import type { MutatingWebhookConfiguration } from '../../../../shared/api/types/admissionregistration-v1';
import { webhookConfigurationTable } from './columns';
import { webhookConfigurationRules } from './webhooks-rules';
import type { Kind } from '../kind';
import { kindsOf } from '../kind';

const webhookConfiguration: Kind<MutatingWebhookConfiguration> = {
  strategy: {
    tracksGeneration: true,
    emptyIsChange: { webhooks: [] },
    metadataChecks: 'no domains',
    requiresResourceVersion: true,
    ...webhookConfigurationRules,
  },
  table: webhookConfigurationTable,
};

export const admissionregistration = kindsOf('admissionregistration', {
  mutatingwebhookconfigurations: webhookConfiguration,
  validatingwebhookconfigurations: webhookConfiguration,
});
