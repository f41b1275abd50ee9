import type { Strategy } from '../strategy';
import { webhookConfigurationRules } from '../validation/webhooks';

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
