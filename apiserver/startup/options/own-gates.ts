import type { FeatureGates } from '../../../shared/flags/feature-gates';

/** The feature gates that switch something in the API server. */
export const OWN_GATES = ['APIPriorityAndFairness', 'EphemeralContainers', 'ServerSideApply'] as const;

export type ServerFeatureGates = FeatureGates<(typeof OWN_GATES)[number]>;
