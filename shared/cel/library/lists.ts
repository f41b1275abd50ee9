import type { FunctionDeclaration } from '../check/declarations';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  UINT,
  listOf,
  paramOf,
} from '../check/types';
import type { CelType } from '../check/types';
import { add, compare } from '../eval/arithmetic';
import { isEqual } from '../eval/equality';
import { ArrayList, Duration, EvalError, ListValue, NO_OVERLOAD, Uint, typeOfValue } from '../eval/values';
import type { Result, Value } from '../eval/values';
import { declare, global, method } from './functions';
import type { Signature } from './functions';

const A = paramOf('A');
const T = paramOf('T');
const LIST_T = listOf(T);
const SETS_SINCE = 29;
/** Release 1.34 has version 3 of cel-go's lists library. */
const LISTS_SINCE = 34;

const COMPARABLE: readonly (readonly [string, CelType])[] = [
  ['int', INT],
  ['uint', UINT],
  ['double', DOUBLE],
  ['bool', BOOL],
  ['duration', DURATION],
  ['timestamp', TIMESTAMP],
  ['string', STRING],
  ['bytes', BYTES],
];

/** What an empty sum is, by the kind of its elements. */
const ZEROS: readonly (readonly [string, CelType, Value])[] = [
  ['int', INT, 0n],
  ['uint', UINT, new Uint(0n)],
  ['double', DOUBLE, 0],
  ['duration', DURATION, new Duration(0n)],
];

function isSorted(list?: Value): Result {
  if (!(list instanceof ListValue)) return NO_OVERLOAD;
  for (let index = 1; index < list.size; index += 1) {
    const order = compare(list.at(index - 1), list.at(index));
    if (order instanceof EvalError) return order;
    if (order > 0) return false;
  }
  return true;
}

function sum(zero: Value): (list?: Value) => Result {
  return (list) => {
    if (!(list instanceof ListValue)) return NO_OVERLOAD;
    let total = zero;
    for (const item of list) {
      const next = add(total, item);
      if (next instanceof EvalError) return next;
      total = next;
    }
    return total;
  };
}

function extreme(name: 'min' | 'max'): (list?: Value) => Result {
  return (list) => {
    if (!(list instanceof ListValue)) return NO_OVERLOAD;
    let best: Value | undefined;
    for (const item of list) {
      const order = best === undefined ? 0 : compare(item, best);
      if (order instanceof EvalError) return order;
      if (best === undefined || (name === 'min' ? order < 0 : order > 0)) best = item;
    }
    return best === undefined ? new EvalError(`${name} called on empty list`) : best;
  };
}

function position(isLast: boolean): (list?: Value, item?: Value) => Result {
  return (list, item = null) => {
    if (!(list instanceof ListValue)) return NO_OVERLOAD;
    for (let count = 0; count < list.size; count += 1) {
      const index = isLast ? list.size - 1 - count : count;
      if (isEqual(list.at(index), item)) return BigInt(index);
    }
    return -1n;
  };
}

function ofComparable(build: (name: string, type: CelType) => Signature): Signature[] {
  return COMPARABLE.map(([name, type]) => build(name, type));
}

function includesAll(list: ListValue, part: ListValue): boolean {
  return Array.from(part).every((item) => Array.from(list).some((other) => isEqual(item, other)));
}

function onLists(run: (a: ListValue, b: ListValue) => Result): (a?: Value, b?: Value) => Result {
  return (a, b) => (a instanceof ListValue && b instanceof ListValue ? run(a, b) : NO_OVERLOAD);
}

function slice(list?: Value, start?: Value, end?: Value): Result {
  if (!(list instanceof ListValue) || typeof start !== 'bigint' || typeof end !== 'bigint')
    return NO_OVERLOAD;
  const failed = (why: string): EvalError => new EvalError(`cannot slice(${start}, ${end}), ${why}`);
  if (start < 0n || end < 0n) return failed('negative indexes not supported');
  if (start > end) return failed('start index must be less than or equal to end index');
  if (BigInt(list.size) < end) return failed(`list is length ${list.size}`);
  const [from, to] = [Number(start), Number(end)];
  return new ArrayList(Array.from({ length: to - from }, (_, index) => list.at(from + index)));
}

function flatten(list?: Value, depth: Value = 1n): Result {
  if (!(list instanceof ListValue) || typeof depth !== 'bigint') return NO_OVERLOAD;
  if (depth < 0n) return new EvalError('level must be non-negative');
  const items: Value[] = [];
  const addAll = (from: ListValue, levels: bigint): void => {
    for (const item of from) {
      if (item instanceof ListValue && levels > 0n) addAll(item, levels - 1n);
      else items.push(item);
    }
  };
  addAll(list, depth);
  return new ArrayList(items);
}

function sortByKeys(list?: Value, keys: Value | undefined = list): Result {
  if (!(list instanceof ListValue) || !(keys instanceof ListValue)) return NO_OVERLOAD;
  const names = Array.from(keys);
  const [first] = names;
  if (names.some((name) => typeOfValue(name) !== typeOfValue(first ?? null))) {
    return new EvalError('list elements must have the same type');
  }
  const order = (a: number, b: number): number => {
    const result = compare(names[a] ?? null, names[b] ?? null);
    return typeof result === 'number' ? result : 0;
  };
  if (first !== undefined && compare(first, first) instanceof EvalError) {
    return new EvalError('list elements must be comparable');
  }
  return new ArrayList(
    Array.from(names.keys())
      .toSorted(order)
      .map((index) => list.at(index)),
  );
}

function distinct(list?: Value): Result {
  if (!(list instanceof ListValue)) return NO_OVERLOAD;
  const items: Value[] = [];
  for (const item of list) if (!items.some((other) => isEqual(item, other))) items.push(item);
  return new ArrayList(items);
}

/** The most elements that `lists.range` makes; upstream has no limit and runs out of memory. */
const RANGE_MAX = 1_000_000n;

function range(count?: Value): Result {
  if (typeof count !== 'bigint') return NO_OVERLOAD;
  if (count > RANGE_MAX) return new EvalError('operation cancelled: actual cost limit exceeded');
  return new ArrayList(Array.from({ length: Math.max(Number(count), 0) }, (_, index) => BigInt(index)));
}

/** Kubernetes' lists (k8s.io/apiserver `cel/library/lists.go`), and cel-go's sets and lists (`ext/sets.go`, `ext/lists.go`). */
export const LIST_FUNCTIONS: readonly FunctionDeclaration[] = [
  declare(
    'isSorted',
    0,
    ...ofComparable((name, type) => method(`list_${name}_is_sorted_bool`, [listOf(type)], BOOL, isSorted)),
  ),
  declare(
    'sum',
    0,
    ...ZEROS.map(([name, type, zero]) => method(`list_${name}_sum_${name}`, [listOf(type)], type, sum(zero))),
  ),
  declare(
    'max',
    0,
    ...ofComparable((name, type) => method(`list_${name}_max_${name}`, [listOf(type)], type, extreme('max'))),
  ),
  declare(
    'min',
    0,
    ...ofComparable((name, type) => method(`list_${name}_min_${name}`, [listOf(type)], type, extreme('min'))),
  ),
  declare('indexOf', 0, method('list_a_index_of_int', [listOf(A), A], INT, position(false))),
  declare('lastIndexOf', 0, method('list_a_last_index_of_int', [listOf(A), A], INT, position(true))),
  declare(
    'sets.contains',
    SETS_SINCE,
    global('list_sets_contains_list', [LIST_T, LIST_T], BOOL, onLists(includesAll)),
  ),
  declare(
    'sets.equivalent',
    SETS_SINCE,
    global(
      'list_sets_equivalent_list',
      [LIST_T, LIST_T],
      BOOL,
      onLists((a, b) => includesAll(a, b) && includesAll(b, a)),
    ),
  ),
  declare(
    'sets.intersects',
    SETS_SINCE,
    global(
      'list_sets_intersects_list',
      [LIST_T, LIST_T],
      BOOL,
      onLists((a, b) => Array.from(a).some((item) => Array.from(b).some((other) => isEqual(item, other)))),
    ),
  ),
  declare('slice', LISTS_SINCE, method('list_slice', [LIST_T, INT, INT], LIST_T, slice)),
  declare(
    'flatten',
    LISTS_SINCE,
    method('list_flatten', [listOf(LIST_T)], LIST_T, (list) => flatten(list)),
    method('list_flatten_int', [listOf(DYN), INT], listOf(DYN), flatten),
  ),
  declare(
    'sort',
    LISTS_SINCE,
    ...ofComparable((_, type) =>
      method(`list_${type.name}_sort`, [listOf(type)], listOf(type), (list) => sortByKeys(list)),
    ),
  ),
  declare(
    '@sortByAssociatedKeys',
    LISTS_SINCE,
    ...ofComparable((_, type) =>
      method(`list_${type.name}_sortByAssociatedKeys`, [LIST_T, listOf(type)], LIST_T, sortByKeys),
    ),
  ),
  declare('lists.range', LISTS_SINCE, global('lists_range', [INT], listOf(INT), range)),
  declare(
    'reverse',
    LISTS_SINCE,
    method('list_reverse', [LIST_T], LIST_T, (list) =>
      list instanceof ListValue ? new ArrayList(Array.from(list).toReversed()) : NO_OVERLOAD,
    ),
  ),
  declare('distinct', LISTS_SINCE, method('list_distinct', [LIST_T], LIST_T, distinct)),
];
