import type { Node, Pod, TopologySpreadConstraint } from '../../shared/api/types/core-v1';
import type { Slices } from '../../shared/concurrency/slices';
import type { LabelSelector } from '../../shared/meta/labels';
import { labelSelectorFromMap, matchesLabels, toLabelSelector } from '../../shared/meta/labels';
import type { ClusterState } from './cluster-state';
import { findUntolerated, matchesNodeAffinity } from '../pods/node-rules';

/** A constraint, and the number of its pods in each domain that counts. */
interface Spread {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly selector: LabelSelector;
  readonly minDomains: number;
  /** Reports whether the pods of a node count, by the policies of the constraint. */
  readonly includes: (node: Node) => boolean;
  readonly counts: Map<string, number>;
}

const REASON = "node(s) didn't match pod topology spread constraints";
const MISSING_LABEL = `${REASON} (missing required label)`;

/**
 * Prepares the constraints that a node must satisfy; undefined if the pod has none. Domains count whose nodes the pod may be on by its node
 * affinity. Source: the plugin PodTopologySpread.
 */
export async function prepareSpread(
  pod: Pod,
  cluster: ClusterState,
  slices: Slices,
): Promise<((node: Node) => readonly string[]) | undefined> {
  const spreads = await countSpreads(pod, 'DoNotSchedule', { cluster, slices });
  if (spreads.length === 0) return undefined;
  const rules = spreads.map((spread) => ({
    ...spread,
    // With fewer domains than there should be, the fewest pods of a domain are those of one that is not there yet.
    fewest: spread.counts.size < spread.minDomains ? 0 : Math.min(...spread.counts.values()),
    own: matchesLabels(spread.selector, pod.metadata.labels) ? 1 : 0,
  }));
  return (node) => {
    for (const { topologyKey, maxSkew, counts, fewest, own } of rules) {
      const domain = domainOf(node, topologyKey);
      if (domain === undefined) return [MISSING_LABEL];
      const skew = (counts.get(domain) ?? 0) + own - (counts.size === 0 ? 0 : fewest);
      if (skew > maxSkew) return [REASON];
    }
    return [];
  };
}

/** Prepares the score of nodes by the constraints that they should satisfy: fewer pods are better. Undefined if the pod has none. */
export async function prepareSpreadScore(
  pod: Pod,
  cluster: ClusterState,
  slices: Slices,
): Promise<((node: Node) => number | undefined) | undefined> {
  const spreads = await countSpreads(pod, 'ScheduleAnyway', { cluster, slices });
  if (spreads.length === 0) return undefined;
  return (node) => {
    let sum = 0;
    for (const { topologyKey, maxSkew, counts } of spreads) {
      const domain = domainOf(node, topologyKey);
      if (domain === undefined) return undefined;
      // As upstream, a key with more domains has a larger weight, because each of them has fewer pods.
      sum += (counts.get(domain) ?? 0) * Math.log(counts.size + 2) + (maxSkew - 1);
    }
    return sum;
  };
}

async function countSpreads(
  pod: Pod,
  whenUnsatisfiable: string,
  { cluster, slices }: { readonly cluster: ClusterState; readonly slices: Slices },
): Promise<readonly Spread[]> {
  const constraints = (pod.spec.topologySpreadConstraints ?? []).filter(
    (each) => each.whenUnsatisfiable === whenUnsatisfiable,
  );
  const spreads = constraints.map((each) => toSpread(pod, each));
  if (spreads.length === 0) return spreads;
  for (const { node, pods } of cluster.nodes()) {
    if (slices.dueAfterSteps()) await slices.pause();
    if (spreads.some(({ topologyKey }) => domainOf(node, topologyKey) === undefined)) continue;
    for (const { topologyKey, selector, counts, includes } of spreads) {
      if (!includes(node)) continue;
      const domain = domainOf(node, topologyKey) ?? '';
      let count = counts.get(domain) ?? 0;
      for (const { metadata } of pods.values()) {
        const isLeaving = (metadata.deletionTimestamp ?? null) !== null;
        const isOfNamespace = metadata.namespace === pod.metadata.namespace;
        if (!isLeaving && isOfNamespace && matchesLabels(selector, metadata.labels)) count += 1;
      }
      counts.set(domain, count);
    }
  }
  return spreads;
}

function toSpread(
  pod: Pod,
  {
    topologyKey,
    maxSkew,
    labelSelector,
    minDomains = 1,
    matchLabelKeys = [],
    nodeAffinityPolicy = 'Honor',
    nodeTaintsPolicy = 'Ignore',
  }: TopologySpreadConstraint,
): Spread {
  const { labels = {} } = pod.metadata;
  const { tolerations = [] } = pod.spec;
  const own = Object.entries(labels).filter(([key]) => matchLabelKeys.includes(key));
  return {
    topologyKey,
    maxSkew,
    minDomains,
    selector: [...toLabelSelector(labelSelector), ...labelSelectorFromMap(Object.fromEntries(own))],
    includes: (node) =>
      (nodeAffinityPolicy === 'Ignore' || matchesNodeAffinity(pod, node)) &&
      (nodeTaintsPolicy === 'Ignore' ||
        findUntolerated(node.spec?.taints ?? [], tolerations, ['NoSchedule', 'NoExecute']) === undefined),
    counts: new Map(),
  };
}

function domainOf({ metadata: { labels = {} } }: Node, topologyKey: string): string | undefined {
  return Object.hasOwn(labels, topologyKey) ? labels[topologyKey] : undefined;
}
