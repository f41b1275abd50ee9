import type { Node, Pod, TopologySpreadConstraint } from '../../shared/api/types/core-v1';
import type { Slices } from '../../shared/concurrency/slices';
import type { LabelSelector } from '../../shared/meta/labels';
import { labelSelectorFromMap, matchesLabels, toLabelSelector } from '../../shared/meta/labels';
import type { Store } from '../../shared/informer/store';
import { LABEL } from '../../shared/names';
import type { ApiObject } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import { PARENT } from '../pods/children';
import type { KindOfResource } from '../runtime/owner';
import { ownerOf } from '../runtime/owner';
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
  const spreads = ownSpreads(pod, 'DoNotSchedule');
  if (spreads.length === 0) return undefined;
  await countPods(pod, spreads, { cluster, slices });
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

/** Those of pods without constraints of their own, for the pods of their Services and of their owner (upstream `systemDefaultConstraints`). */
const DEFAULT_CONSTRAINTS = [
  { topologyKey: LABEL.hostname, maxSkew: 3, whenUnsatisfiable: 'ScheduleAnyway' },
  { topologyKey: LABEL.topologyZone, maxSkew: 5, whenUnsatisfiable: 'ScheduleAnyway' },
] as const;

/**
 * Prepares the score of nodes by the constraints that they should satisfy: fewer pods are better. `groupOf` selects the pods that one without
 * constraints is to be away from; it is empty for a pod that belongs to none. Undefined if the pod has no constraint.
 */
export async function prepareSpreadScore(
  pod: Pod,
  { cluster, slices, groupOf }: SpreadContext & { readonly groupOf: (pod: Pod) => LabelSelector },
): Promise<((node: Node) => number | undefined) | undefined> {
  const isDefault = (pod.spec.topologySpreadConstraints ?? []).length === 0;
  const group = isDefault ? groupOf(pod) : [];
  const spreads = isDefault
    ? DEFAULT_CONSTRAINTS.map((each) => ({ ...toSpread(pod, each), selector: group }))
    : ownSpreads(pod, 'ScheduleAnyway');
  if (spreads.length === 0 || (isDefault && group.length === 0)) return undefined;
  await countPods(pod, spreads, { cluster, slices, isPartial: isDefault });
  return (node) => {
    let sum = 0;
    for (const { topologyKey, maxSkew, counts } of spreads) {
      const domain = domainOf(node, topologyKey);
      if (domain === undefined && isDefault) continue;
      if (domain === undefined) return undefined;
      // As upstream, a key with more domains has a larger weight, because each of them has fewer pods.
      sum += (counts.get(domain) ?? 0) * Math.log(counts.size + 2) + (maxSkew - 1);
    }
    return sum;
  };
}

/** The part of an object that selects pods. */
export interface Selecting<Selector> extends ApiObject {
  readonly spec: { readonly selector?: Selector | undefined };
}

/** Cuts an object down to the part that selects pods. The scheduler keeps no templates. */
export function toSelectingPart<Selector>({ metadata, spec }: Selecting<Selector>): Selecting<Selector> {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata;
  return { metadata: { name, namespace, uid, resourceVersion }, spec: { selector: spec.selector } };
}

type ByMap = Selecting<Readonly<Record<string, string>>>;
type ByExpressions = Selecting<Parameters<typeof toLabelSelector>[0]>;

/** What puts pods into groups. Services have the index `namespace`. */
export interface GroupSources {
  readonly services: Store<ByMap>;
  readonly replicationControllers: Store<ByMap>;
  readonly replicaSets: Store<ByExpressions>;
  readonly statefulSets: Store<ByExpressions>;
}

const REPLICATION_CONTROLLER = kindOf(PARENT.replicationControllers);
const REPLICA_SET = kindOf(PARENT.replicaSets);
const STATEFUL_SET = kindOf(PARENT.statefulSets);

function kindOf(resource: KindOfResource): string {
  return `${apiVersionOf(resource)} ${resource.kind}`;
}

/** Returns the selector of the pods that belong to the Services and the owner of a pod; empty if there are none (upstream `DefaultSelector`). */
export function selectGroup({ metadata }: Pod, sources: GroupSources): LabelSelector {
  const { namespace = '', labels } = metadata;
  const merged: Record<string, string> = {};
  for (const { spec } of sources.services.byIndex('namespace', namespace)) {
    if (spec.selector !== undefined && matchesLabels(labelSelectorFromMap(spec.selector), labels))
      Object.assign(merged, spec.selector);
  }
  const owner = ownerOf({ metadata });
  const kind = `${owner?.apiVersion ?? ''} ${owner?.kind ?? ''}`;
  const key = `${namespace}/${owner?.name ?? ''}`;
  if (kind === REPLICATION_CONTROLLER)
    Object.assign(merged, sources.replicationControllers.get(key)?.spec.selector);
  const sets = new Map<string, Store<ByExpressions>>([
    [REPLICA_SET, sources.replicaSets],
    [STATEFUL_SET, sources.statefulSets],
  ]);
  const set = sets.get(kind)?.get(key);
  return [...labelSelectorFromMap(merged), ...(set === undefined ? [] : toLabelSelector(set.spec.selector))];
}

interface SpreadContext {
  readonly cluster: ClusterState;
  readonly slices: Slices;
}

function ownSpreads({ metadata, spec }: Pod, whenUnsatisfiable: string): readonly Spread[] {
  return (spec.topologySpreadConstraints ?? [])
    .filter((each) => each.whenUnsatisfiable === whenUnsatisfiable)
    .map((each) => toSpread({ metadata, spec }, each));
}

/** Counts the pods in each domain. Nodes that lack one of the labels count only if `isPartial`, for the other labels. */
async function countPods(
  pod: Pod,
  spreads: readonly Spread[],
  { cluster, slices, isPartial = false }: SpreadContext & { readonly isPartial?: boolean },
): Promise<void> {
  for (const { node, pods } of cluster.nodes()) {
    if (slices.dueAfterSteps()) await slices.pause();
    const domains = spreads.map(({ topologyKey }) => domainOf(node, topologyKey));
    if (!isPartial && domains.includes(undefined)) continue;
    for (const [at, { selector, counts, includes }] of spreads.entries()) {
      const domain = domains[at];
      if (domain === undefined || !includes(node)) continue;
      let count = counts.get(domain) ?? 0;
      for (const { metadata } of pods.values()) {
        const isLeaving = (metadata.deletionTimestamp ?? null) !== null;
        const isOfNamespace = metadata.namespace === pod.metadata.namespace;
        if (!isLeaving && isOfNamespace && matchesLabels(selector, metadata.labels)) count += 1;
      }
      counts.set(domain, count);
    }
  }
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
