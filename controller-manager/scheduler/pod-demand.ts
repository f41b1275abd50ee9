import type { Container, Pod } from '../../shared/api/types/core-v1';
import { parseQuantity } from '../../shared/meta/quantity';

/** Amounts by name of the resource: `cpu` in millicores, every other one in its own unit (bytes, pieces). */
export type Amounts = ReadonlyMap<string, number>;

/** A port of the node that a container takes. */
export interface HostPort {
  /** `TCP/8080`. */
  readonly port: string;
  /** `0.0.0.0` is all addresses of the node. */
  readonly address: string;
}

/** What a pod takes from its node. */
export interface PodDemand {
  readonly requests: Amounts;
  /** The requests by which nodes are scored: containers without a request count as if they had a small one. */
  readonly scored: { readonly cpuMilli: number; readonly memoryBytes: number };
  readonly hostPorts: readonly HostPort[];
}

/** Upstream's `DefaultMilliCPURequest` and `DefaultMemoryRequest`. */
const SCORED_DEFAULT = { cpu: 100, memory: 200 * 1_024 * 1_024 } as const;
export const ALL_ADDRESSES = '0.0.0.0';
const MILLI = 1_000;

const demands = new WeakMap<Pod, PodDemand>();

/**
 * Computes what a pod takes: the larger of the sum of its containers and each init container, plus its overhead. Source:
 * `computePodResourceRequest` of the plugin NodeResourcesFit.
 */
export function demandOf(pod: Pod): PodDemand {
  const known = demands.get(pod);
  if (known !== undefined) return known;
  const { containers, initContainers = [], overhead = {} } = pod.spec;
  const requestsOf = (each: Container): Amounts => toAmounts(each.resources.requests);
  const scoredOf = (each: Container): Amounts =>
    new Map([...Object.entries(SCORED_DEFAULT), ...requestsOf(each)]);
  const total = (of: (each: Container) => Amounts): Amounts => {
    const sum = new Map<string, number>();
    for (const each of containers ?? []) addAmounts(sum, of(each));
    for (const each of initContainers)
      for (const [name, amount] of of(each)) sum.set(name, Math.max(sum.get(name) ?? 0, amount));
    addAmounts(sum, toAmounts(overhead));
    return sum;
  };
  const scored = total(scoredOf);
  const made: PodDemand = {
    requests: total(requestsOf),
    scored: { cpuMilli: scored.get('cpu') ?? 0, memoryBytes: scored.get('memory') ?? 0 },
    hostPorts: (containers ?? []).flatMap(({ ports = [] }) =>
      ports.flatMap(({ hostPort = 0, protocol = 'TCP', hostIP = '' }) =>
        hostPort > 0
          ? [{ port: `${protocol}/${String(hostPort)}`, address: hostIP === '' ? ALL_ADDRESSES : hostIP }]
          : [],
      ),
    ),
  };
  demands.set(pod, made);
  return made;
}

/** Converts quantities by name to numbers. Text that is no quantity counts as 0; the API server admits none. */
export function toAmounts(quantities: Readonly<Record<string, string>> = {}): Amounts {
  return new Map(Object.entries(quantities).map(([name, text]) => [name, toAmount(name, text)]));
}

function toAmount(name: string, text: string): number {
  const quantity = parseQuantity(text);
  if (quantity === undefined) return 0;
  const value = Number(quantity.unscaled) * 10 ** quantity.scale;
  // As upstream, an amount is rounded up to its unit; the subtraction undoes the error of the multiplication.
  return Math.ceil((name === 'cpu' ? value * MILLI : value) - 1e-6);
}

/** Adds `amounts`, `times` over, to a sum. */
export function addAmounts(sum: Map<string, number>, amounts: Amounts, times: 1 | -1 = 1): void {
  for (const [name, amount] of amounts) sum.set(name, (sum.get(name) ?? 0) + times * amount);
}
