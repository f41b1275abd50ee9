import type { FlagRow } from '../../../shared/flags/flag-row';
import { REVIEW_VERSIONS } from '../../access/webhook/review-call';

const GROUP = 'Authorization';

/** The flags of the mode Webhook. */
export const AUTHORIZATION_WEBHOOK_FLAGS = [
  {
    name: 'authorization-webhook-config-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'A kubeconfig that says where, and as whom, the mode Webhook asks a remote service who may do what.',
  },
  {
    name: 'authorization-webhook-version',
    type: 'enum',
    values: REVIEW_VERSIONS,
    default: 'v1beta1',
    group: GROUP,
    help: 'The version of the SubjectAccessReviews that are sent to the remote service.',
  },
  {
    name: 'authorization-webhook-cache-authorized-ttl',
    type: 'duration',
    default: '5m0s',
    group: GROUP,
    help: 'How long it stands that the remote service allowed something. 0 asks each time.',
  },
  {
    name: 'authorization-webhook-cache-unauthorized-ttl',
    type: 'duration',
    default: '30s',
    group: GROUP,
    help: 'How long it stands that the remote service did not allow something. 0 asks each time.',
  },
] as const satisfies readonly FlagRow[];
