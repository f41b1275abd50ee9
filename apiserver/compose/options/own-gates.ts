import type { FeatureGates } from '../../../shared/flags/feature-gates';
import { FIELD_GATES, SERVER_GATES } from '../../kubernetes/kinds/field-gates';

/** The feature gates with an effect in the API server. */
export const OWN_GATES = [
  'APIListChunking',
  'APIPriorityAndFairness',
  'APIResponseCompression',
  'DryRun',
  'EphemeralContainers',
  'RemainingItemCount',
  'RemoveSelfLink',
  'ServerSideApply',
  'StorageVersionHash',
  'StreamingProxyRedirects',
  'ValidateProxyRedirects',
  'WarningHeaders',
  ...SERVER_GATES,
  ...FIELD_GATES,
] as const;

export type ServerFeatureGates = FeatureGates<(typeof OWN_GATES)[number]>;
