import type { MutatingWebhookConfiguration } from '../../../../shared/api/types/admissionregistration-v1';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';

/** Of mutating and of validating webhooks. */
export const webhookConfigurationTable = tableOf<
  Pick<MutatingWebhookConfiguration, 'metadata'> & { readonly webhooks?: readonly unknown[] }
>([NAME, { name: 'Webhooks', type: 'integer', cell: ({ webhooks = [] }) => webhooks.length }, AGE]);
