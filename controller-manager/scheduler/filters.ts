import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../shared/api/types/core-v1';
import type { Slices } from '../../shared/concurrency/slices';
import type { LabelSelector } from '../../shared/meta/labels';
import { TAINT } from '../../shared/names';
import type { ClusterState, NodeState } from './cluster-state';
import { findUntolerated, isTolerated, matchesAnyTerm, matchesNodeAffinity } from '../pods/node-rules';
import { preparePodAffinity } from './pod-affinity';
import { demandOf } from './pod-demand';
import { prepareSpread } from './topology-spread';

/** Changes in the cluster after which a pod that fitted nowhere may fit. */
export type Change = 'node' | 'pod-placed' | 'pod-removed' | 'volume';

/** What filters look at. */
export interface FilterContext {
  readonly cluster: ClusterState;
  /** By `namespace/name`. */
  readonly claimOf: (key: string) => PersistentVolumeClaim | undefined;
  readonly volumeOf: (name: string) => PersistentVolume | undefined;
  /** Selects the pods of the Services and the owner of a pod; empty if it has none. */
  readonly groupOf: (pod: Pod) => LabelSelector;
  readonly slices: Slices;
}

/** Returns why the pod cannot run on the node; an empty list if it can. */
export type NodeCheck = (state: NodeState) => readonly string[];

/** No node fits, for a reason that does not depend on the node. */
export interface PodProblem {
  readonly problem: string;
}

export interface Filter {
  /** Upstream's name of the plugin. */
  readonly name: string;
  /** A pod that this filter refused is tried again after these changes. */
  readonly wokenBy: readonly Change[];
  /** Prepares the filter for one pod; undefined if every node passes. */
  readonly prepare: (
    pod: Pod,
    context: FilterContext,
  ) => Promise<NodeCheck | undefined> | NodeCheck | PodProblem | undefined;
}

const PASSED: readonly string[] = [];

/** In upstream's order: the first one that refuses a node says why. */
export const FILTERS: readonly Filter[] = [
  { name: 'NodeUnschedulable', wokenBy: ['node'], prepare: prepareUnschedulable },
  {
    name: 'NodeName',
    wokenBy: ['node'],
    prepare: ({ spec: { nodeName = '' } }) =>
      nodeName === ''
        ? undefined
        : ({ name }) => (name === nodeName ? PASSED : ["node(s) didn't match the requested node name"]),
  },
  { name: 'TaintToleration', wokenBy: ['node'], prepare: prepareTaints },
  {
    name: 'NodeAffinity',
    wokenBy: ['node'],
    prepare: (pod) =>
      pod.spec.nodeSelector === undefined && pod.spec.affinity?.nodeAffinity === undefined
        ? undefined
        : ({ node }) =>
            matchesNodeAffinity(pod, node) ? PASSED : ["node(s) didn't match Pod's node affinity/selector"],
  },
  { name: 'NodePorts', wokenBy: ['node', 'pod-removed'], prepare: preparePorts },
  { name: 'NodeResourcesFit', wokenBy: ['node', 'pod-removed'], prepare: prepareResources },
  { name: 'VolumeBinding', wokenBy: ['node', 'volume'], prepare: prepareVolumes },
  {
    name: 'PodTopologySpread',
    wokenBy: ['node', 'pod-placed', 'pod-removed'],
    prepare: async (pod, { cluster, slices }) => ofNode(await prepareSpread(pod, cluster, slices)),
  },
  {
    name: 'InterPodAffinity',
    wokenBy: ['node', 'pod-placed', 'pod-removed'],
    prepare: async (pod, { cluster, slices }) => ofNode(await preparePodAffinity(pod, cluster, slices)),
  },
];

function ofNode(check: ((node: Node) => readonly string[]) | undefined): NodeCheck | undefined {
  return check === undefined ? undefined : ({ node }) => check(node);
}

function prepareUnschedulable({ spec: { tolerations = [] } }: Pod): NodeCheck | undefined {
  const taint = { key: TAINT.unschedulable, effect: 'NoSchedule' };
  if (isTolerated(taint, tolerations)) return undefined;
  return ({ node }) => (node.spec?.unschedulable === true ? ['node(s) were unschedulable'] : PASSED);
}

function prepareTaints({ spec: { tolerations = [] } }: Pod): NodeCheck {
  return ({ node }) => {
    const taint = findUntolerated(node.spec?.taints ?? [], tolerations, ['NoSchedule', 'NoExecute']);
    return taint === undefined ? PASSED : ['node(s) had untolerated taint(s)'];
  };
}

function preparePorts(pod: Pod): NodeCheck | undefined {
  const { hostPorts } = demandOf(pod);
  if (hostPorts.length === 0) return undefined;
  return (state) =>
    state.hasPortOf(hostPorts) ? ["node(s) didn't have free ports for the requested pod ports"] : PASSED;
}

function prepareResources(pod: Pod): NodeCheck {
  const requests = [...demandOf(pod).requests].filter(([, amount]) => amount > 0);
  return ({ pods, allocatable, requested }) => {
    const reasons = requests
      .filter(([name, amount]) => amount > (allocatable.get(name) ?? 0) - (requested.get(name) ?? 0))
      .map(([name]) => `Insufficient ${name}`);
    return pods.size + 1 > (allocatable.get('pods') ?? 0) ? ['Too many pods', ...reasons] : reasons;
  };
}

/** Claims must be bound already: this scheduler binds and provisions no volumes. */
function prepareVolumes(
  { metadata, spec }: Pod,
  { claimOf, volumeOf }: FilterContext,
): NodeCheck | PodProblem | undefined {
  const names = (spec.volumes ?? []).flatMap(
    ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [],
  );
  if (names.length === 0) return undefined;
  const volumes: PersistentVolume[] = [];
  for (const name of names) {
    const claim = claimOf(`${metadata.namespace ?? ''}/${name}`);
    if (claim === undefined) return { problem: `persistentvolumeclaim ${JSON.stringify(name)} not found` };
    if ((claim.metadata.deletionTimestamp ?? null) !== null)
      return { problem: `persistentvolumeclaim ${JSON.stringify(name)} is being deleted` };
    const { volumeName = '' } = claim.spec ?? {};
    if (volumeName === '') return { problem: 'pod has unbound immediate PersistentVolumeClaims' };
    const volume = volumeOf(volumeName);
    if (volume === undefined) return { problem: `persistentvolume ${JSON.stringify(volumeName)} not found` };
    volumes.push(volume);
  }
  return ({ node }) =>
    volumes.every((volume) => {
      const terms = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms;
      return terms === undefined || matchesAnyTerm(terms ?? [], node);
    })
      ? PASSED
      : ["node(s) didn't match PersistentVolume's node affinity"];
}
