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

/** How much there is of each resource, by its name. */
export type Amounts = ReadonlyMap<string, Quantity>;

export const NOTHING: Amounts = new Map();

/** Whole units. */
export function countOf(units: number): Quantity {
  return { unscaled: BigInt(units), scale: 0, format: 'decimal' };
}

export const ONE: Quantity = countOf(1);

/** Amounts as they stand in an object, by the resource. */
export type ResourceList = Readonly<Record<string, string>>;

/** What a list of resources in an object says; what is no amount counts as zero. */
export function amountsOf(list: ResourceList = {}): Amounts {
  return new Map(
    Object.entries(list).map(([name, amount]) => [name, parseQuantity(amount) ?? ZERO_QUANTITY]),
  );
}

/** The list as it stands in an object, in canonical text. */
export function listOf(amounts: Amounts): ResourceList {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]));
}

/** `cpu=500m,pods=1`: for people, in the order of the names. */
export function amountsText(amounts: Amounts): string {
  return sortedNames(amounts.keys())
    .map((name) => `${name}=${formatQuantity(amounts.get(name) ?? ZERO_QUANTITY)}`)
    .join(',');
}

/** The same of a list in an object, each amount as the API prints it back. */
export function listText(list: ResourceList, names: readonly string[]): string {
  return sortedNames(names)
    .map((name) => `${name}=${canonicalQuantity(list[name] ?? '') ?? '0'}`)
    .join(',');
}

/** In the order of their bytes. */
export function sortedNames(names: Iterable<string>): readonly string[] {
  return [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

export function plus(a: Amounts, b: Amounts): Amounts {
  return sumOf([a, b]);
}

/** Of any number of lists: what each adds costs as much as is in it, however much is in the others. */
export function sumOf(lists: Iterable<Amounts>): Amounts {
  return combined(lists, addQuantity);
}

/** The largest amount of each resource in any of the lists. */
export function largestOf(lists: Iterable<Amounts>): Amounts {
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

/** `a` without `b`, and nothing below zero. A resource that only `b` has is left out. */
export function minus(a: Amounts, b: Amounts): Amounts {
  const rest = new Map<string, Quantity>();
  for (const [name, amount] of a) {
    const taken = b.get(name);
    const left = taken === undefined ? amount : subtractQuantity(amount, taken);
    rest.set(name, isMore(left, ZERO_QUANTITY) ? left : ZERO_QUANTITY);
  }
  return rest;
}

/** Only these resources. */
export function only(amounts: Amounts, names: Iterable<string>): Amounts {
  const result = new Map<string, Quantity>();
  for (const name of names) {
    const amount = amounts.get(name);
    if (amount !== undefined) result.set(name, amount);
  }
  return result;
}

/** Without the resources of which there is nothing. */
export function withoutZeros(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([, amount]) => amount.unscaled !== 0n));
}

/** The names of the resources of which there is more than the limits allow. */
export function beyond(amounts: Amounts, limits: Amounts): readonly string[] {
  return [...amounts.keys()].filter((name) => {
    const limit = limits.get(name);
    return limit !== undefined && isMore(amounts.get(name) ?? ZERO_QUANTITY, limit);
  });
}

/** Whether both have the same resources, and equally much of each. */
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

/** Rounded up to whole units. */
export function wholeUnits(amount: Quantity): Quantity {
  const { unscaled, scale } = amount;
  if (scale >= 0) return amount;
  const divisor = 10n ** BigInt(-scale);
  const cut = unscaled / divisor;
  const whole = unscaled > 0n && unscaled % divisor !== 0n ? cut + 1n : cut;
  return { ...amount, unscaled: whole, scale: 0 };
}
