import type { FeatureGates } from '../shared/flags/feature-gates';
import { RESOURCE } from '../shared/api/resource-names';
import { RESOURCES } from '../shared/api/resources';
import { runAccountTokens } from './account-tokens/account-tokens';
import { runClusterInfoSigner } from './bootstrap-tokens/cluster-info-signer';
import { runTokenCleaner } from './bootstrap-tokens/token-cleaner';
import { runRequestApproval } from './certificates/request-approval';
import { runRequestCleaning } from './certificates/request-cleaning';
import { runRequestSigning } from './certificates/request-signing';
import type { GroupVersionResource } from '../shared/object/object';
import type { Controller } from './runtime/controller';
import type { ManagerGate } from './runtime/controller-options';
import { runCronJobs } from './cronjob/cronjob';
import { runDaemonSets } from './daemonset/daemonset';
import { runDeployments } from './deployment/deployment';
import { runDisruption } from './disruption/disruption';
import { runEndpoints } from './endpoints/endpoints';
import { runEndpointSlices } from './endpoints/endpointslices';
import { runMirroredSlices } from './endpoints/mirrored-slices';
import { runGarbageCollector } from './garbage-collector/garbage-collector';
import { runJobs } from './job/job';
import { runNamespaceController } from './namespace/namespace-controller';
import { runRootCaPublisher } from './namespace-objects/root-ca-publisher';
import { runServiceAccounts } from './namespace-objects/service-accounts';
import { runPolicyStatus } from './policy-status/policy-status';
import { runPodGc } from './podgc/podgc';
import { runReplicaSets, runReplicationControllers } from './replicaset/replicaset';
import { runResourceQuota } from './resource-quota/resource-quota';
import { runRoleAggregation } from './role-aggregation/role-aggregation';
import { runStatefulSets } from './statefulset/statefulset';
import { runServiceCidrs } from './service-cidrs/service-cidrs';
import { runStaleStorageVersions } from './storage-versions/stale-storage-versions';
import { runTtlAfterFinished } from './ttl-after-finished/ttl-after-finished';
import { runClaimProtection } from './volume-protection/claim-protection';
import { runClassProtection } from './volume-protection/class-protection';
import { runVolumeProtection } from './volume-protection/volume-protection';

/** Returns the controllers that exist with these feature gates. */
export function controllersWith(gates: FeatureGates<ManagerGate>): readonly Controller[] {
  return CONTROLLERS.filter(
    ({ gates: needed = [], resource }) =>
      needed.every((gate) => gates[gate]) && (resource === undefined || isServed(resource)),
  );
}

function isServed({ group, version, resource }: GroupVersionResource): boolean {
  return RESOURCES.some((row) => row.group === group && row.version === version && row.resource === resource);
}

/** All controllers. */
export const CONTROLLERS: readonly Controller[] = [
  { name: 'namespace', account: 'namespace-controller', run: runNamespaceController },
  { name: 'resourcequota', account: 'resourcequota-controller', run: runResourceQuota },
  { name: 'garbagecollector', account: 'generic-garbage-collector', run: runGarbageCollector },
  // It creates the tokens of all other controllers and therefore acts with the credentials of the process.
  { name: 'serviceaccount-token', run: runAccountTokens },
  { name: 'serviceaccount', account: 'service-account-controller', run: runServiceAccounts },
  { name: 'root-ca-cert-publisher', account: 'root-ca-cert-publisher', run: runRootCaPublisher },
  { name: 'pvc-protection', account: 'pvc-protection-controller', run: runClaimProtection },
  { name: 'pv-protection', account: 'pv-protection-controller', run: runVolumeProtection },
  {
    name: 'volumeattributesclass-protection-controller',
    account: 'volumeattributesclass-protection-controller',
    gates: ['VolumeAttributesClass'],
    run: runClassProtection,
  },
  {
    name: 'replicationcontroller',
    account: 'replication-controller',
    run: runReplicationControllers,
  },
  { name: 'replicaset', account: 'replicaset-controller', run: runReplicaSets },
  { name: 'deployment', account: 'deployment-controller', run: runDeployments },
  { name: 'statefulset', account: 'statefulset-controller', run: runStatefulSets },
  { name: 'daemonset', account: 'daemon-set-controller', run: runDaemonSets },
  { name: 'job', account: 'job-controller', run: runJobs },
  { name: 'cronjob', account: 'cronjob-controller', run: runCronJobs },
  { name: 'disruption', account: 'disruption-controller', run: runDisruption },
  { name: 'podgc', account: 'pod-garbage-collector', run: runPodGc },
  { name: 'ttl-after-finished', account: 'ttl-after-finished-controller', run: runTtlAfterFinished },
  { name: 'endpoint', account: 'endpoint-controller', run: runEndpoints },
  { name: 'endpointslice', account: 'endpointslice-controller', run: runEndpointSlices },
  {
    name: 'endpointslicemirroring',
    account: 'endpointslicemirroring-controller',
    run: runMirroredSlices,
  },
  {
    name: 'clusterrole-aggregation',
    account: 'clusterrole-aggregation-controller',
    run: runRoleAggregation,
  },
  { name: 'csrapproving', account: 'certificate-controller', run: runRequestApproval },
  { name: 'csrsigning', account: 'certificate-controller', run: runRequestSigning },
  { name: 'csrcleaner', account: 'certificate-controller', run: runRequestCleaning },
  { name: 'bootstrapsigner', account: 'bootstrap-signer', isOffByDefault: true, run: runClusterInfoSigner },
  {
    name: 'storage-version-gc',
    account: 'storage-version-garbage-collector',
    gates: ['APIServerIdentity', 'StorageVersionAPI'],
    run: runStaleStorageVersions,
  },
  {
    name: 'service-cidr-controller',
    account: 'service-cidrs-controller',
    gates: ['MultiCIDRServiceAllocator'],
    run: runServiceCidrs,
  },
  {
    name: 'validatingadmissionpolicy-status-controller',
    account: 'validatingadmissionpolicy-status-controller',
    resource: RESOURCE.validatingadmissionpolicies,
    run: runPolicyStatus,
  },
  { name: 'tokencleaner', account: 'token-cleaner', isOffByDefault: true, run: runTokenCleaner },
];

/**
 * Evaluates `--controllers`: `name` enables, `-name` disables, the first match wins, and `*` enables all that are on by default. Unknown
 * names are returned as well.
 */
export function selectControllers(
  words: readonly string[],
  controllers: readonly Controller[] = CONTROLLERS,
): { readonly selected: readonly Controller[]; readonly unknown: readonly string[] } {
  const names = new Set(controllers.map(({ name }) => name));
  return {
    selected: controllers.filter(({ name, isOffByDefault }) => {
      const word = words.find((each) => each === name || each === `-${name}`);
      return word === undefined ? words.includes('*') && isOffByDefault !== true : word === name;
    }),
    unknown: words.filter((word) => word !== '*' && !names.has(word.replace(/^-/, ''))),
  };
}
