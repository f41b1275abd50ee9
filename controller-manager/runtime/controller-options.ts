import type { RootCaFile } from './root-ca-file';
import type { SigningAuthority } from '../../shared/certs/sign-certificate-request';
import type { FeatureGates } from '../../shared/flags/feature-gates';
import { isOnByDefault } from '../../shared/flags/feature-gate-table';
import type { SigningKey } from '../../shared/tokens/token-key';

/** The feature gates that have an effect in this program. */
export const MANAGER_GATES = [
  'APIServerIdentity',
  'CronJobsScheduledAnnotation',
  'DeploymentReplicaSetTerminatingReplicas',
  'MaxUnavailableStatefulSet',
  'MultiCIDRServiceAllocator',
  'NodeOutOfServiceVolumeDetach',
  'PodDisruptionConditions',
  'PodIndexLabel',
  'StorageVersionAPI',
  'VolumeAttributesClass',
] as const;
export type ManagerGate = (typeof MANAGER_GATES)[number];

/** Returns whether a feature is on; gates that are absent have their defaults. */
export function hasFeature({ gates }: Pick<ControllerOptions, 'gates'>, gate: ManagerGate): boolean {
  return gates?.[gate] ?? isOnByDefault(gate);
}

/** The controller settings of the command line. */
export interface ControllerOptions {
  readonly gates?: FeatureGates<ManagerGate>;
  readonly concurrentNamespaceSyncs: number;
  /** Interval of the periodic check of every terminating namespace, in milliseconds. */
  readonly namespaceSyncPeriodMs: number;
  readonly concurrentGcSyncs: number;
  /** Number of quotas calculated concurrently; 5 if absent. */
  readonly concurrentResourceQuotaSyncs?: number;
  /** Interval of the periodic calculation of every quota, in milliseconds; 5 minutes if absent. */
  readonly resourceQuotaSyncPeriodMs?: number;
  /** Number of service accounts and Secrets processed concurrently; 5 if absent. */
  readonly concurrentServiceaccountTokenSyncs?: number;
  /** Numbers of objects of a kind reconciled concurrently; 5 if absent, 2 for DaemonSets. */
  readonly concurrentDeploymentSyncs?: number;
  readonly concurrentReplicasetSyncs?: number;
  readonly concurrentRcSyncs?: number;
  readonly concurrentStatefulsetSyncs?: number;
  readonly concurrentDaemonsetSyncs?: number;
  readonly concurrentCronJobSyncs?: number;
  readonly concurrentEndpointSyncs?: number;
  readonly concurrentServiceEndpointSyncs?: number;
  readonly mirroringConcurrentServiceEndpointSyncs?: number;
  /** Addresses of one subset of Endpoints that are mirrored; 1,000 if absent. */
  readonly mirroringMaxEndpointsPerSubset?: number;
  readonly concurrentTtlAfterFinishedSyncs?: number;
  readonly concurrentValidatingAdmissionPolicyStatusSyncs?: number;
  /** How many pods that have ended are kept; 12,500 if absent. */
  readonly terminatedPodGcThreshold?: number;
  /** The most endpoints of an EndpointSlice; 100 if absent. */
  readonly maxEndpointsPerSlice?: number;
  /** The CA certificates of the API server for pods, as PEM text, or a file of them that may change; absent if unknown. */
  readonly rootCa?: string | RootCaFile;
  /** Signs the tokens in Secrets; absent without a key. */
  readonly tokenKey?: SigningKey;
  /** Signs certificate requests; absent without an authority. */
  readonly signing?: Signing;
}

/** The authorities of certificate requests. */
export interface Signing {
  /** Returns undefined for a signer without an authority, or a foreign one. */
  readonly authorityOf: (signerName: string) => AuthorityFiles | undefined;
  readonly lifetimeMs: number;
}

/** An authority as stored in its two files. */
export interface AuthorityFiles {
  /** Returns the current files; unusable files keep the previous pair. */
  readonly current: () => Promise<SigningAuthority>;
}
