import { GROUP } from '../../../shared/names';
import { webhookConfigurationRow } from './columns';
import { webhookConfigurationRules } from './webhooks-rules';
import type { Kind } from '../kind';
import type { KindGroup } from '../kind';

const webhookConfiguration: Kind = {
  strategy: { tracksGeneration: true, requiresResourceVersion: true, ...webhookConfigurationRules },
  row: webhookConfigurationRow,
};

export const admissionregistration: KindGroup = {
  group: GROUP.admissionregistration,
  kinds: {
    mutatingwebhookconfigurations: webhookConfiguration,
    validatingwebhookconfigurations: webhookConfiguration,
  },
};
