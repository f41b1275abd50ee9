import type { Quantity } from '../meta/quantity';
import {
  ZERO_QUANTITY,
  addQuantity,
  canonicalQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  subtractQuantity,
} from '../meta/quantity';

/** Quantities by resource name. */
export type Amounts = ReadonlyMap<string, Quantity>;

export const NOTHING: Amounts = new Map();

/** Returns a quantity of whole units. */
export function toCount(units: number): Quantity {
  return { unscaled: BigInt(units), scale: 0, format: 'decimal' };
}

export const ONE: Quantity = toCount(1);

/** A ResourceList of the API: quantities as text by resource name. */
export type ResourceList = Readonly<Record<string, string>>;

/** Parses a resource list. Invalid quantities count as zero. */
export function parseAmounts(list: ResourceList = {}): Amounts {
  return new Map(
    Object.entries(list).map(([name, amount]) => [name, parseQuantity(amount) ?? ZERO_QUANTITY]),
  );
}

/** Formats amounts as a resource list in canonical text. */
export function formatResourceList(amounts: Amounts): ResourceList {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]));
}

/** Formats amounts for messages, sorted by name: `cpu=500m,pods=1`. */
export function formatAmounts(amounts: Amounts): string {
  return sortedNames(amounts.keys())
    .map((name) => `${name}=${formatQuantity(amounts.get(name) ?? ZERO_QUANTITY)}`)
    .join(',');
}

/** Formats these resources of a list, each quantity in canonical text. */
export function formatListedAmounts(list: ResourceList, names: readonly string[]): string {
  return sortedNames(names)
    .map((name) => `${name}=${canonicalQuantity(list[name] ?? '') ?? '0'}`)
    .join(',');
}

/** Sorts names by their bytes. */
export function sortedNames(names: Iterable<string>): readonly string[] {
  return [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

export function addAmounts(a: Amounts, b: Amounts): Amounts {
  return sumAmounts([a, b]);
}

/** Adds any number of lists, in time linear in their total size. */
export function sumAmounts(lists: Iterable<Amounts>): Amounts {
  return combined(lists, addQuantity);
}

/** Returns the largest amount of each resource in any of the lists. */
export function maxAmounts(lists: Iterable<Amounts>): Amounts {
  return combined(lists, (known, other) => (isMore(known, other) ? known : other));
}

function combined(lists: Iterable<Amounts>, combine: (a: Quantity, b: Quantity) => Quantity): Amounts {
  const result = new Map<string, Quantity>();
  for (const list of lists) {
    for (const [name, amount] of list) {
      const known = result.get(name);
      result.set(name, known === undefined ? amount : combine(known, amount));
    }
  }
  return result;
}

/** Subtracts `b` from `a`, with a minimum of zero. Resources that only `b` has are omitted. */
export function subtractAmounts(a: Amounts, b: Amounts): Amounts {
  const rest = new Map<string, Quantity>();
  for (const [name, amount] of a) {
    const taken = b.get(name);
    const left = taken === undefined ? amount : subtractQuantity(amount, taken);
    rest.set(name, isMore(left, ZERO_QUANTITY) ? left : ZERO_QUANTITY);
  }
  return rest;
}

/** Returns only these resources. */
export function pickAmounts(amounts: Amounts, names: Iterable<string>): Amounts {
  const result = new Map<string, Quantity>();
  for (const name of names) {
    const amount = amounts.get(name);
    if (amount !== undefined) result.set(name, amount);
  }
  return result;
}

/** Omits resources of amount zero. */
export function withoutZeros(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([, amount]) => amount.unscaled !== 0n));
}

/** Returns the names of resources that exceed the limits. */
export function findExceeded(amounts: Amounts, limits: Amounts): readonly string[] {
  return [...amounts.keys()].filter((name) => {
    const limit = limits.get(name);
    return limit !== undefined && isMore(amounts.get(name) ?? ZERO_QUANTITY, limit);
  });
}

/** True when both have the same resources in equal amounts. */
export function areEqual(a: Amounts, b: Amounts): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([name, amount]) => {
    const other = b.get(name);
    return other !== undefined && compareQuantity(amount, other) === 0;
  });
}

export function isMore(a: Quantity, b: Quantity): boolean {
  return compareQuantity(a, b) > 0;
}

/** Rounds up to whole units. */
export function wholeUnits(amount: Quantity): Quantity {
  const { unscaled, scale } = amount;
  if (scale >= 0) return amount;
  const divisor = 10n ** BigInt(-scale);
  const cut = unscaled / divisor;
  const whole = unscaled > 0n && unscaled % divisor !== 0n ? cut + 1n : cut;
  return { ...amount, unscaled: whole, scale: 0 };
}
