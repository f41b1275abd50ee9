import type { FlagRow } from '../../../shared/flags/flag-row';
import { REVIEW_VERSIONS } from '../../engine/remote/review-call';

const GROUP = 'Authorization';

/** The flags of the mode Webhook. */
export const AUTHORIZATION_WEBHOOK_FLAGS = [
  {
    name: 'authorization-webhook-config-file',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'File in kubeconfig format with the address and credentials of the remote service that the mode Webhook asks for authorization decisions.',
  },
  {
    name: 'authorization-webhook-version',
    type: 'enum',
    values: REVIEW_VERSIONS,
    default: 'v1beta1',
    group: GROUP,
    help: 'The API version of the SubjectAccessReviews sent to the authorization webhook.',
  },
  {
    name: 'authorization-webhook-cache-authorized-ttl',
    type: 'duration',
    default: '5m0s',
    group: GROUP,
    help: 'How long to cache "allowed" responses of the authorization webhook. 0 disables caching.',
  },
  {
    name: 'authorization-webhook-cache-unauthorized-ttl',
    type: 'duration',
    default: '30s',
    group: GROUP,
    help: 'How long to cache "not allowed" responses of the authorization webhook. 0 disables caching.',
  },
] as const satisfies readonly FlagRow[];
