import type {
  LimitRangeItem,
  PersistentVolumeClaim,
  Pod,
  ResourceRequirements,
} from '../../../../shared/api/types/core-v1';
import type { Quantity } from '../../../../shared/meta/quantity';
import { ZERO_QUANTITY, addQuantity, formatQuantity } from '../../../../shared/meta/quantity';
import type { Amounts, ResourceList } from '../../../../shared/quota/amounts';
import { parseAmounts, isMore } from '../../../../shared/quota/amounts';

interface Asked {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

/** Returns what exceeds the limits of a pod or its containers, one sentence each. */
export function podExcesses({ spec }: Pod, limits: readonly LimitRangeItem[]): readonly string[] {
  const containers = (spec.containers ?? []).map(askedBy);
  const initContainers = (spec.initContainers ?? []).map(askedBy);
  return limits.flatMap((limit) => {
    if (limit.type === 'Container') {
      return [...containers, ...initContainers].flatMap((asked) => excesses(limit, asked));
    }
    return limit.type === 'Pod' ? excesses(limit, askedByPod(containers, initContainers)) : [];
  });
}

/** Returns what a claim requests beyond the limits; requests are compared with the maximum. */
export function claimExcesses(
  { spec }: PersistentVolumeClaim,
  limits: readonly LimitRangeItem[],
): readonly string[] {
  const { requests } = askedBy(spec);
  return limits
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap(({ type, min, max }) => [
      ...each(min, ([name, least]) => belowMin({ type, name, least }, { requests, limits: new Map() })),
      ...each(max, ([name, most]) => {
        const request = requests.get(name);
        const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
        if (request === undefined) return `${rule}, but no request is specified`;
        return isMore(request, most) ? `${rule}, but request is ${formatQuantity(request)}` : undefined;
      }),
    ]);
}

function excesses(limit: LimitRangeItem, asked: Asked): readonly string[] {
  const { type } = limit;
  return [
    ...each(limit.min, ([name, least]) => belowMin({ type, name, least }, asked)),
    ...each(limit.max, ([name, most]) => aboveMax({ type, name, most }, asked)),
    ...each(limit.maxLimitRequestRatio, ([name, most]) => aboveRatio({ type, name, most }, asked)),
  ];
}

function each(
  amounts: ResourceList | undefined,
  check: (amount: readonly [name: string, quantity: Quantity]) => string | undefined,
): readonly string[] {
  return [...parseAmounts(amounts)].map(check).filter((problem) => problem !== undefined);
}

function belowMin(
  { type, name, least }: { readonly type: string; readonly name: string; readonly least: Quantity },
  { requests, limits }: Asked,
): string | undefined {
  const rule = `minimum ${name} usage per ${type} is ${formatQuantity(least)}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (request === undefined) return `${rule}, but no request is specified`;
  if (isMore(least, request)) return `${rule}, but request is ${formatQuantity(request)}`;
  if (limit !== undefined && isMore(least, limit)) return `${rule}, but limit is ${formatQuantity(limit)}`;
  return undefined;
}

function aboveMax(
  { type, name, most }: { readonly type: string; readonly name: string; readonly most: Quantity },
  { requests, limits }: Asked,
): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (limit === undefined) return `${rule}, but no limit is specified`;
  if (isMore(limit, most)) return `${rule}, but limit is ${formatQuantity(limit)}`;
  if (request !== undefined && isMore(request, most)) {
    return `${rule}, but request is ${formatQuantity(request)}`;
  }
  return undefined;
}

const RATIO_DIGITS = 6;

function aboveRatio(
  { type, name, most }: { readonly type: string; readonly name: string; readonly most: Quantity },
  { requests, limits }: Asked,
): string | undefined {
  const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(most)}`;
  const request = requests.get(name) ?? ZERO_QUANTITY;
  const limit = limits.get(name) ?? ZERO_QUANTITY;
  if (request.unscaled === 0n) return `${rule}, but no request is specified or request is 0`;
  if (limit.unscaled === 0n) return `${rule}, but no limit is specified or limit is 0`;
  // Exact arithmetic: as floating point numbers, 9m is more than 3 times 3m.
  if (!isMore(limit, times(request, most))) return undefined;
  return `${rule}, but provided ratio is ${(numberOf(limit) / numberOf(request)).toFixed(RATIO_DIGITS)}`;
}

function times(a: Quantity, b: Quantity): Quantity {
  return { unscaled: a.unscaled * b.unscaled, scale: a.scale + b.scale, format: a.format };
}

function askedBy({ resources }: { readonly resources: ResourceRequirements }): Asked {
  const { requests, limits } = resources;
  return { requests: parseAmounts(requests), limits: parseAmounts(limits) };
}

/** A pod needs the sum of its containers or the largest init container; the larger one counts. */
function askedByPod(containers: readonly Asked[], initContainers: readonly Asked[]): Asked {
  const largest = (part: keyof Asked): Amounts => {
    const result = new Map(sumOf(containers.map((asked) => asked[part])));
    for (const asked of initContainers) {
      for (const [name, quantity] of asked[part]) {
        const sum = result.get(name);
        if (sum === undefined || isMore(quantity, sum)) result.set(name, quantity);
      }
    }
    return result;
  };
  return { requests: largest('requests'), limits: largest('limits') };
}

/** A resource that one part leaves out has no sum. */
function sumOf(parts: readonly Amounts[]): Amounts {
  const [first] = parts;
  const sums = new Map<string, Quantity>();
  for (const name of first?.keys() ?? []) {
    if (!parts.every((part) => part.has(name))) continue;
    const sum = parts.reduce((a, part) => addQuantity(a, part.get(name) ?? ZERO_QUANTITY), ZERO_QUANTITY);
    sums.set(name, { ...sum, format: 'decimal' });
  }
  return sums;
}

function numberOf({ unscaled, scale }: Quantity): number {
  return Number(unscaled) * 10 ** scale;
}
