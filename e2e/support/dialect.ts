import type { Dialect } from '../../shared/names';

/** The names by dialect. A test process drives servers of both dialects, so it cannot use those of its own. */
export const NAMES = {
  orch: {
    systemNamespace: 'orch-system',
    publicNamespace: 'orch-public',
    namespaceFinalizer: 'orch',
    controllerManager: 'system:controller-manager',
  },
  kubernetes: {
    systemNamespace: 'kube-system',
    publicNamespace: 'kube-public',
    namespaceFinalizer: 'kubernetes',
    controllerManager: 'system:kube-controller-manager',
  },
} as const satisfies Record<Dialect, object>;
