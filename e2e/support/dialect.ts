import type { Dialect } from '../../shared/names';

/** The names a test meets, per dialect. A test process drives servers of both, so it cannot take them from its own dialect. */
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
