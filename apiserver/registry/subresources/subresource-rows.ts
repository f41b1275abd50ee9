import { GROUP } from '../../../shared/names';
import type { Operation } from '../virtual/operation';
import { bindPod } from './bind-pod';
import { ephemeralContainersView } from './ephemeral-containers';
import { evictPod } from './evict-pod';
import type { ObjectView } from './object-view';
import { scaleBySelector, scaleBySelectorMap } from './scale';
import { requestToken } from './token-request';

/**
 * A subresource of another kind than its resource: an operation on the object, or a view of it. All others (`status`, `approval`)
 * show the object itself, and a strategy says which part of it they change.
 */
export type SpecialSubresource =
  { readonly is: 'operation'; readonly run: Operation } | { readonly is: 'view'; readonly view: ObjectView };

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
