import type { Node, Pod } from '../../shared/api/types/core-v1';
import type { NodeState } from './cluster-state';
import type { FilterContext, NodeCheck } from './filters';
import { FILTERS } from './filters';
import { isTolerated, matchesTerm } from '../pods/node-rules';
import { preparePodAffinityScore } from './pod-affinity';
import { demandOf } from './pod-demand';
import { prepareSpreadScore } from './topology-spread';

/** Where a pod goes, or why it goes nowhere. */
export type Placement =
  | { readonly nodeName: string }
  | {
      readonly nodeName?: undefined;
      /** Upstream's words: `0/3 nodes are available: 3 Insufficient cpu.` */
      readonly message: string;
      /** The names of the filters that refused nodes. */
      readonly refusedBy: ReadonlySet<string>;
    };

const SCORE_MAX = 100;

/**
 * Filters and scores all nodes for a pod. Of nodes with the best score one is chosen at random. `random` is in [0, 1). Source: `schedulePod` and
 * `FitError` of the scheduler of Kubernetes 1.36.
 */
export async function placePod(pod: Pod, context: FilterContext, random: () => number): Promise<Placement> {
  const nodes = context.cluster.nodes();
  if (nodes.length === 0)
    return { message: 'no nodes available to schedule pods', refusedBy: new Set(['NodeName']) };
  const checks: (readonly [name: string, check: NodeCheck])[] = [];
  for (const { name, prepare } of FILTERS) {
    const prepared = await prepare(pod, context);
    if (prepared === undefined) continue;
    if (typeof prepared !== 'function') {
      const message = `${countOf(nodes)}: ${prepared.problem}.`;
      return { message, refusedBy: new Set([name]) };
    }
    checks.push([name, prepared]);
  }
  const fitting: NodeState[] = [];
  const reasons = new Map<string, number>();
  const refusedBy = new Set<string>();
  for (const node of nodes) {
    if (context.slices.due()) await context.slices.pause();
    const refusal = firstRefusal(checks, node);
    if (refusal === undefined) {
      fitting.push(node);
      continue;
    }
    refusedBy.add(refusal.filter);
    for (const reason of refusal.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  if (fitting.length === 0) {
    const texts = [...reasons].map(([reason, count]) => `${String(count)} ${reason}`).sort();
    return { message: `${countOf(nodes)}: ${texts.join(', ')}.`, refusedBy };
  }
  return { nodeName: await bestOf(fitting, { pod, context, random }) };
}

function countOf(nodes: readonly NodeState[]): string {
  return `0/${String(nodes.length)} nodes are available`;
}

function firstRefusal(
  checks: readonly (readonly [name: string, check: NodeCheck])[],
  node: NodeState,
): { readonly filter: string; readonly reasons: readonly string[] } | undefined {
  for (const [filter, check] of checks) {
    const reasons = check(node);
    if (reasons.length > 0) return { filter, reasons };
  }
  return undefined;
}

/** A score in any range; undefined counts as the worst. */
type NodeScore = (state: NodeState) => number | undefined;

type Normalize = (scores: readonly (number | undefined)[]) => readonly number[];

interface Scorer {
  /** Upstream's weight of the plugin. */
  readonly weight: number;
  readonly prepare: (
    pod: Pod,
    context: FilterContext,
  ) => Promise<NodeScore | undefined> | NodeScore | undefined;
  /** Brings the scores of all nodes into 0 to 100. */
  readonly normalize: Normalize;
}

const asIs: Normalize = (scores) => scores.map((score) => score ?? 0);

/** The default plugins of upstream but ImageLocality: stand-in nodes pull no images. */
const SCORERS: readonly Scorer[] = [
  { weight: 3, prepare: prepareTaintScore, normalize: fewestIsBest },
  { weight: 2, prepare: prepareNodeAffinityScore, normalize: mostIsBest },
  {
    weight: 2,
    prepare: async (pod, context) => ofNode(await prepareSpreadScore(pod, context)),
    normalize: spreadIsBest,
  },
  {
    weight: 2,
    prepare: async (pod, { cluster, slices }) => ofNode(await preparePodAffinityScore(pod, cluster, slices)),
    normalize: stretch,
  },
  { weight: 1, prepare: prepareFreeShare, normalize: asIs },
  { weight: 1, prepare: prepareBalance, normalize: asIs },
];

function ofNode(score: ((node: Node) => number | undefined) | undefined): NodeScore | undefined {
  return score === undefined ? undefined : ({ node }) => score(node);
}

async function bestOf(
  nodes: readonly NodeState[],
  {
    pod,
    context,
    random,
  }: { readonly pod: Pod; readonly context: FilterContext; readonly random: () => number },
): Promise<string> {
  const totals = nodes.map(() => 0);
  if (nodes.length > 1) {
    for (const { weight, prepare, normalize } of SCORERS) {
      const score = await prepare(pod, context);
      if (score === undefined) continue;
      for (const [at, each] of normalize(nodes.map(score)).entries())
        totals[at] = (totals[at] ?? 0) + weight * Math.floor(each);
    }
  }
  const best = Math.max(...totals);
  const candidates = nodes.filter((_, at) => totals[at] === best);
  return candidates[Math.floor(random() * candidates.length)]?.name ?? '';
}

function prepareTaintScore({ spec: { tolerations = [] } }: Pod): NodeScore {
  return ({ node }) =>
    (node.spec?.taints ?? []).filter(
      (taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(taint, tolerations),
    ).length;
}

function prepareNodeAffinityScore({ spec }: Pod): NodeScore | undefined {
  const preferred = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  if (preferred.length === 0) return undefined;
  return ({ node }) =>
    preferred.reduce((sum, { weight, preference }) => sum + (matchesTerm(preference, node) ? weight : 0), 0);
}

/** How much of a resource is taken once the pod is there, and how much there is. */
interface Amounts {
  readonly taken: number;
  readonly there: number;
}

/** The amounts of processor and memory. */
function amountsOf(pod: Pod, { allocatable, scored }: NodeState): readonly Amounts[] {
  const its = demandOf(pod).scored;
  return [
    { taken: scored.cpuMilli + its.cpuMilli, there: allocatable.get('cpu') ?? 0 },
    { taken: scored.memoryBytes + its.memoryBytes, there: allocatable.get('memory') ?? 0 },
  ];
}

/** Upstream's `LeastAllocated`. */
function prepareFreeShare(pod: Pod): NodeScore {
  return (state) => {
    const amounts = amountsOf(pod, state);
    // As upstream, the score of each resource is a whole number, so that one small pod more makes a difference.
    const scores = amounts.map(({ taken, there }) =>
      there === 0 ? 0 : Math.floor((Math.max(0, there - taken) * SCORE_MAX) / there),
    );
    return scores.reduce((sum, score) => sum + score, 0) / scores.length;
  };
}

/** Upstream's `NodeResourcesBalancedAllocation`, whose deviation of two shares is half of their difference. */
function prepareBalance(pod: Pod): NodeScore {
  return (state) => {
    const [cpu = 0, memory = 0] = amountsOf(pod, state).map(({ taken, there }) =>
      there === 0 ? 1 : Math.min(1, taken / there),
    );
    return (1 - Math.abs(cpu - memory) / 2) * SCORE_MAX;
  };
}

function mostIsBest(scores: readonly (number | undefined)[]): readonly number[] {
  const most = Math.max(...scores.map((score) => score ?? 0));
  return scores.map((score = 0) => (most === 0 ? score : (score * SCORE_MAX) / most));
}

function fewestIsBest(scores: readonly (number | undefined)[]): readonly number[] {
  const most = Math.max(...scores.map((score) => score ?? 0));
  return scores.map((score = 0) => (most === 0 ? SCORE_MAX : SCORE_MAX - (score * SCORE_MAX) / most));
}

/** Upstream's normalization of PodTopologySpread; a node outside all domains gets nothing. */
function spreadIsBest(scores: readonly (number | undefined)[]): readonly number[] {
  const known = scores.filter((score) => score !== undefined);
  const [most, fewest] = [Math.max(...known), Math.min(...known)];
  return scores.map((score) => {
    if (score === undefined) return 0;
    return most === 0 ? SCORE_MAX : (SCORE_MAX * (most + fewest - score)) / most;
  });
}

function stretch(scores: readonly (number | undefined)[]): readonly number[] {
  const all = scores.map((score) => score ?? 0);
  const [most, least] = [Math.max(...all), Math.min(...all)];
  return all.map((score) => (most === least ? 0 : (SCORE_MAX * (score - least)) / (most - least)));
}
