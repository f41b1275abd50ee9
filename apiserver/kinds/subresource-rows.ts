import { GROUP } from '../../shared/names';
import type { SpecialSubresource } from '../registry/special-subresource';
import { bindPod } from './core/bind-pod';
import { ephemeralContainersView } from './core/ephemeral-containers';
import { evictPod } from './core/evict-pod';
import { scaleBySelector, scaleBySelectorMap } from './autoscaling/scale';
import { requestToken } from './core/token-request';

/** By group, resource and name. */
export const SPECIAL_SUBRESOURCES: Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, SpecialSubresource>>>>>
> = {
  [GROUP.core]: {
    pods: {
      binding: { is: 'operation', run: bindPod },
      ephemeralcontainers: { is: 'view', view: ephemeralContainersView },
      eviction: { is: 'operation', run: evictPod },
    },
    replicationcontrollers: { scale: { is: 'view', view: scaleBySelectorMap } },
    serviceaccounts: { token: { is: 'operation', run: requestToken } },
  },
  [GROUP.apps]: {
    deployments: { scale: { is: 'view', view: scaleBySelector } },
    replicasets: { scale: { is: 'view', view: scaleBySelector } },
    statefulsets: { scale: { is: 'view', view: scaleBySelector } },
  },
};
