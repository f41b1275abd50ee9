import type { Node, Pod, PodAffinityTerm, WeightedPodAffinityTerm } from '../../shared/api/types/core-v1';
import type { Slices } from '../../shared/concurrency/slices';
import type { LabelSelector } from '../../shared/meta/labels';
import { matchesLabels, toLabelSelector } from '../../shared/meta/labels';
import type { ClusterState } from './cluster-state';

/** A term of pod affinity, ready to be matched. */
interface Term {
  readonly topologyKey: string;
  readonly matches: (pod: Pod) => boolean;
}

interface WeightedTerm extends Term {
  readonly weight: number;
}

interface PodTerms {
  readonly affinity: readonly Term[];
  readonly antiAffinity: readonly Term[];
  /** Preferred terms; those of anti-affinity have a negative weight. */
  readonly preferred: readonly WeightedTerm[];
}

/** Upstream's `HardPodAffinityWeight`: how much a required affinity of a running pod counts when nodes are scored. */
const REQUIRED_WEIGHT = 1;

const termsOfPods = new WeakMap<Pod, PodTerms>();

function termsOf(pod: Pod): PodTerms {
  const known = termsOfPods.get(pod);
  if (known !== undefined) return known;
  const { podAffinity = {}, podAntiAffinity = {} } = pod.spec.affinity ?? {};
  const weighted = (terms: readonly WeightedPodAffinityTerm[] = [], sign: 1 | -1): readonly WeightedTerm[] =>
    terms.map(({ weight, podAffinityTerm }) => ({ ...toTerm(pod, podAffinityTerm), weight: sign * weight }));
  const made: PodTerms = {
    affinity: (podAffinity.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((each) =>
      toTerm(pod, each),
    ),
    antiAffinity: (podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((each) =>
      toTerm(pod, each),
    ),
    preferred: [
      ...weighted(podAffinity.preferredDuringSchedulingIgnoredDuringExecution, 1),
      ...weighted(podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution, -1),
    ],
  };
  termsOfPods.set(pod, made);
  return made;
}

/** The namespaces of a term are named, or that of its pod; a selector of namespaces selects all or, if it has requirements, none more. */
function toTerm(
  pod: Pod,
  { topologyKey, labelSelector, namespaces = [], namespaceSelector }: PodAffinityTerm,
): Term {
  const selector: LabelSelector = toLabelSelector(labelSelector);
  const own = pod.metadata.namespace ?? '';
  const chosen = new Set(namespaces.length === 0 && namespaceSelector === undefined ? [own] : namespaces);
  const hasAll = namespaceSelector !== undefined && toLabelSelector(namespaceSelector).length === 0;
  return {
    topologyKey,
    matches: ({ metadata }) =>
      (hasAll || chosen.has(metadata.namespace ?? '')) && matchesLabels(selector, metadata.labels),
  };
}

/** Counts by topology key and its value on a node: `zone` and `a`. */
class DomainCounts {
  readonly #counts = new Map<string, Map<string, number>>();

  add(topologyKey: string, node: Node, count = 1): void {
    const value = node.metadata.labels?.[topologyKey];
    if (value === undefined) return;
    const values = this.#counts.get(topologyKey) ?? new Map<string, number>();
    this.#counts.set(topologyKey, values);
    values.set(value, (values.get(value) ?? 0) + count);
  }

  /** The count in the domain of this node; 0 if it is in none. */
  of(topologyKey: string, node: Node): number {
    const value = node.metadata.labels?.[topologyKey];
    return value === undefined ? 0 : (this.#counts.get(topologyKey)?.get(value) ?? 0);
  }

  keys(): Iterable<string> {
    return this.#counts.keys();
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }
}

const REASON = {
  affinity: "node(s) didn't match pod affinity rules",
  antiAffinity: "node(s) didn't match pod anti-affinity rules",
  existing: "node(s) didn't satisfy existing pods anti-affinity rules",
} as const;

/**
 * Prepares the required pod affinity and anti-affinity of a pod, and that of the running pods against it; undefined if no pod has any. Source: the
 * plugin InterPodAffinity.
 */
export async function preparePodAffinity(
  pod: Pod,
  cluster: ClusterState,
  slices: Slices,
): Promise<((node: Node) => readonly string[]) | undefined> {
  const { affinity, antiAffinity } = termsOf(pod);
  const [affine, repelled, repelling] = [new DomainCounts(), new DomainCounts(), new DomainCounts()];
  for (const { node, pods } of cluster.nodes()) {
    for (const other of pods.values()) {
      if (slices.dueAfterSteps()) await slices.pause();
      for (const term of termsOf(other).antiAffinity)
        if (term.matches(pod)) repelling.add(term.topologyKey, node);
      if (affinity.length > 0 && affinity.every((term) => term.matches(other)))
        for (const { topologyKey } of affinity) affine.add(topologyKey, node);
      for (const term of antiAffinity) if (term.matches(other)) repelled.add(term.topologyKey, node);
    }
  }
  if (affinity.length + antiAffinity.length === 0 && repelling.isEmpty) return undefined;
  // The first pod of a group with affinity to itself may go anywhere.
  const isFirst = affine.isEmpty && affinity.every((term) => term.matches(pod));
  const isAffine = (node: Node): boolean =>
    affinity.every(
      ({ topologyKey }) =>
        Object.hasOwn(node.metadata.labels ?? {}, topologyKey) &&
        (isFirst || affine.of(topologyKey, node) > 0),
    );
  return (node) => {
    if (!isAffine(node)) return [REASON.affinity];
    if (antiAffinity.some(({ topologyKey }) => repelled.of(topologyKey, node) > 0))
      return [REASON.antiAffinity];
    return [...repelling.keys()].some((key) => repelling.of(key, node) > 0) ? [REASON.existing] : [];
  };
}

/** Prepares the score of nodes by preferred terms of a pod, and by all terms of the running pods; undefined if there are none. */
export async function preparePodAffinityScore(
  pod: Pod,
  cluster: ClusterState,
  slices: Slices,
): Promise<((node: Node) => number) | undefined> {
  const { preferred } = termsOf(pod);
  const counts = new DomainCounts();
  for (const { node, pods } of cluster.nodes()) {
    for (const other of pods.values()) {
      if (slices.dueAfterSteps()) await slices.pause();
      for (const term of preferred) if (term.matches(other)) counts.add(term.topologyKey, node, term.weight);
      const its = termsOf(other);
      for (const term of its.affinity)
        if (term.matches(pod)) counts.add(term.topologyKey, node, REQUIRED_WEIGHT);
      for (const term of its.preferred)
        if (term.matches(pod)) counts.add(term.topologyKey, node, term.weight);
    }
  }
  if (counts.isEmpty) return undefined;
  const keys = [...counts.keys()];
  return (node) => keys.reduce((sum, key) => sum + counts.of(key, node), 0);
}
