import type { Strategy } from '../../registry/strategy';
import { webhookConfigurationRules } from './webhooks-rules';

const webhookConfiguration: Strategy = {
  tracksGeneration: true,
  requiresResourceVersion: true,
  ...webhookConfigurationRules,
};

/** admissionregistration. */
export const admissionregistration: Readonly<Record<string, Strategy>> = {
  mutatingwebhookconfigurations: webhookConfiguration,
  validatingwebhookconfigurations: webhookConfiguration,
};
