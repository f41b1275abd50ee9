import type { Container, Pod, PodSpec } from '../api/types/core-v1';
import type { Quantity } from '../meta/quantity';
import { GROUP, RESERVED_PREFIX } from '../names';
import type { Amounts } from './amounts';
import { ONE, parseAmounts, maxAmounts, addAmounts, sortedNames, sumAmounts } from './amounts';
import type { Evaluator, Measured } from './measure';
import type { PodScopes } from './scopes';

const OBJECT_COUNT = 'count/pods';
const REQUESTS = 'requests.';
const LIMITS = 'limits.';
const HUGE_PAGES = 'hugepages-';
/** Resources that can be overcommitted, so that containers have separate requests and limits. */
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const NAMES: ReadonlySet<string> = new Set([
  OBJECT_COUNT,
  'pods',
  ...COMPUTE.flatMap((name) => [name, REQUESTS + name, LIMITS + name]),
]);
/** Resources that each container must specify where a quota limits them. Later resources are not required. */
const DEMANDED: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, REQUESTS + name, LIMITS + name]),
);
const FINISHED = ['Failed', 'Succeeded'];
const SECOND_MS = 1_000;

/** Counts pods, and what they request until they terminate. */
export const pods: Evaluator<Pod> = {
  group: GROUP.core,
  resource: 'pods',
  chargesUpdates: false,
  countsOnly: false,
  measures: (name) =>
    NAMES.has(name) ||
    name.startsWith(HUGE_PAGES) ||
    name.startsWith(REQUESTS + HUGE_PAGES) ||
    isQuotaOfExtended(name),
  measure: (pod) => ({ ...usageOf(pod), scopes: podScopes(pod.spec) }),
  missing: (names, { spec }) => {
    const demanded = names.filter((name) => DEMANDED.has(name));
    if (demanded.length === 0) return [];
    const specified = containersOf(spec).map(({ resources }) =>
      computeUsage(parseAmounts(resources.requests), parseAmounts(resources.limits)),
    );
    return sortedNames(demanded.filter((name) => specified.some((usage) => !usage.has(name))));
  },
};

function usageOf(pod: Pod): Measured {
  const count = new Map([[OBJECT_COUNT, ONE]]);
  if (FINISHED.includes(pod.status?.phase ?? '')) return { usage: count };
  const asked = (part: 'requests' | 'limits'): Amounts => computeNeeds(pod.spec, part);
  const usage = addAmounts(count, computeUsage(asked('requests'), asked('limits')));
  const goneMs = getDeletionDeadlineMs(pod);
  return { usage, ...(goneMs === undefined ? {} : { later: { fromMs: goneMs, usage: count } }) };
}

/**
 * Returns when a deleted pod should be gone, in milliseconds since the epoch. It is not charged after that,
 * since its node may be lost and never report its end.
 */
function getDeletionDeadlineMs({ metadata }: Pod): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (typeof deletionTimestamp !== 'string' || typeof deletionGracePeriodSeconds !== 'number')
    return undefined;
  return Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * SECOND_MS;
}

/** Returns the sum of the containers, or the largest init container where that is more, plus overhead. */
function computeNeeds(spec: PodSpec, part: 'requests' | 'limits'): Amounts {
  const listsOf = (containers: readonly Container[]): readonly Amounts[] =>
    containers.map(({ resources }) => parseAmounts(resources[part]));
  const sum = sumAmounts(listsOf(spec.containers ?? []));
  const most = maxAmounts([sum, ...listsOf(spec.initContainers ?? [])]);
  return addAmounts(most, parseAmounts(spec.overhead));
}

/** Names the resources as quotas do. */
function computeUsage(requests: Amounts, limits: Amounts): Amounts {
  const usage = new Map<string, Quantity>([['pods', ONE]]);
  for (const [name, amount] of requests) {
    if (COMPUTE.includes(name) || name.startsWith(HUGE_PAGES)) usage.set(name, amount);
    else if (!isExtended(name)) continue;
    usage.set(REQUESTS + name, amount);
  }
  for (const [name, amount] of limits) {
    if (COMPUTE.includes(name)) usage.set(LIMITS + name, amount);
  }
  return usage;
}

/** True for an extended resource such as `example.com/gpu`. */
function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith(REQUESTS);
}

/** True for a quota's name of an extended resource, which covers requests only. */
function isQuotaOfExtended(name: string): boolean {
  return !isNative(name) && name.startsWith(REQUESTS);
}

/** True for names without a domain, and those of the project's own. */
function isNative(name: string): boolean {
  return !name.includes('/') || name.includes(RESERVED_PREFIX);
}

function podScopes(spec: PodSpec): PodScopes {
  return {
    isTerminating: (spec.activeDeadlineSeconds ?? -1) >= 0,
    isBestEffort: isBestEffort(spec),
    priorityClassName: spec.priorityClassName ?? '',
    hasCrossNamespaceAffinity: hasCrossNamespaceAffinity(spec),
  };
}

/** Source: `usesCrossNamespacePodAffinity` of upstream's quota evaluator. */
function hasCrossNamespaceAffinity({ affinity: { podAffinity, podAntiAffinity } = {} }: PodSpec): boolean {
  return [podAffinity, podAntiAffinity].some((each) =>
    [
      ...(each?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(each?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
        ({ podAffinityTerm }) => podAffinityTerm,
      ),
    ].some(
      ({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined,
    ),
  );
}

function isBestEffort(spec: PodSpec): boolean {
  return containersOf(spec).every(({ resources: { requests, limits } }) =>
    [parseAmounts(requests), parseAmounts(limits)].every((amounts) =>
      ['cpu', 'memory'].every((name) => (amounts.get(name)?.unscaled ?? 0n) <= 0n),
    ),
  );
}

function containersOf({ containers, initContainers = [] }: PodSpec): readonly Container[] {
  return [...(containers ?? []), ...initContainers];
}
