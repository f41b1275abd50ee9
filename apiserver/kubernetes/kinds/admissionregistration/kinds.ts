import { kindsOf } from '../kind';
import { webhookConfigurations } from './webhook-configurations';

export const admissionregistration = kindsOf('admissionregistration', {
  mutatingwebhookconfigurations: webhookConfigurations,
  validatingwebhookconfigurations: webhookConfigurations,
});
