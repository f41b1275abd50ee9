import type { FunctionDeclaration, VariableDeclaration } from '../check/declarations';
import { BOOL, DYN, INT, STRING, listOf, mapOf, optionalOf, paramOf, typeOf } from '../check/types';
import {
  ArrayList,
  Duration,
  EntryMap,
  EvalError,
  ListValue,
  MapValue,
  NO_OVERLOAD,
  OptionalValue,
  Timestamp,
  TypeValue,
  Uint,
  mapKeyOf,
} from '../eval/values';
import type { MapKey, Result, Value } from '../eval/values';
import { describeValue } from '../eval/select';
import { declare, global, method } from './functions';

const K = paramOf('K');
const V = paramOf('V');
const OPTIONAL = optionalOf(V);
const LIST = listOf(V);
const MAP = mapOf(K, V);
const SINCE = 28;
const TWO_VARIABLES_SINCE = 32;

/** The planner evaluates selections, indices and `or` itself. */
const SPECIAL = (): Result => NO_OVERLOAD;

/** The first moment of year 1, which is the empty time. */
const YEAR_ONE = -62_135_596_800_000_000_000n;

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === '') return true;
  if (value instanceof ListValue || value instanceof MapValue) return value.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Timestamp) return value.nanoseconds === YEAR_ONE;
  return value instanceof Duration && value.nanoseconds === 0n;
}

function contentOf({ value }: OptionalValue): Result {
  return value === undefined ? new EvalError('optional.none() dereference') : value;
}

function unwrapAll(list?: Value): Result {
  if (!(list instanceof ListValue)) return NO_OVERLOAD;
  const items: Value[] = [];
  for (const item of list) {
    if (!(item instanceof OptionalValue))
      return new EvalError(`value ${describeValue(item)} is not optional`);
    if (item.value !== undefined) items.push(item.value);
  }
  return new ArrayList(items);
}

function end(isLast: boolean): (list?: Value) => Result {
  return (list) => {
    if (!(list instanceof ListValue)) return NO_OVERLOAD;
    return list.size === 0 ? OptionalValue.none : new OptionalValue(list.at(isLast ? list.size - 1 : 0));
  };
}

/** The name of the type of optional values. */
export const OPTIONAL_TYPE_NAME: VariableDeclaration = {
  name: 'optional_type',
  type: typeOf(OPTIONAL),
  value: new TypeValue(OPTIONAL),
};

/** Adds entries to a map that a transformation builds; a key that exists already is an error. */
function insert(map?: Value, ...rest: Value[]): Result {
  if (!(map instanceof MapValue)) return NO_OVERLOAD;
  const [first = null, second] = rest;
  const added: [Value, Value][] = [];
  if (second !== undefined) added.push([first, second]);
  else if (first instanceof MapValue) {
    for (const key of first.keys()) added.push([key, first.find(mapKeyOf(key) ?? '') ?? null]);
  } else return NO_OVERLOAD;
  const target = map instanceof GrowingMap ? map : new GrowingMap(map);
  for (const [key, value] of added) {
    const name = mapKeyOf(key);
    if (name === undefined || target.has(name))
      return new EvalError(`insert failed: key ${String(name)} already exists`);
    target.insert(name, [key, value]);
  }
  return target;
}

/** The map of one transformation; only its accumulator refers to it while it grows. */
class GrowingMap extends EntryMap {
  readonly #growing: Map<MapKey, readonly [Value, Value]>;

  constructor(from: MapValue) {
    const entries = new Map<MapKey, readonly [Value, Value]>();
    for (const key of from.keys()) {
      const name = mapKeyOf(key);
      if (name !== undefined) entries.set(name, [key, from.find(name) ?? null]);
    }
    super(entries);
    this.#growing = entries;
  }

  insert(name: MapKey, entry: readonly [Value, Value]): void {
    this.#growing.set(name, entry);
  }
}

/** Optional values (cel-go `cel/library.go`) and the insertion of two-variable comprehensions (`ext/comprehensions.go`). */
export const OPTIONAL_FUNCTIONS: readonly FunctionDeclaration[] = [
  declare(
    'optional.of',
    SINCE,
    global('optional_of', [V], OPTIONAL, (value = null) => new OptionalValue(value)),
  ),
  declare(
    'optional.ofNonZeroValue',
    SINCE,
    global('optional_ofNonZeroValue', [V], OPTIONAL, (value = null) =>
      isZero(value) ? OptionalValue.none : new OptionalValue(value),
    ),
  ),
  declare(
    'optional.none',
    SINCE,
    global('optional_none', [], OPTIONAL, () => OptionalValue.none),
  ),
  declare(
    'value',
    SINCE,
    method('optional_value', [OPTIONAL], V, (value) =>
      value instanceof OptionalValue ? contentOf(value) : NO_OVERLOAD,
    ),
  ),
  declare(
    'hasValue',
    SINCE,
    method('optional_hasValue', [OPTIONAL], BOOL, (value) =>
      value instanceof OptionalValue ? value.value !== undefined : NO_OVERLOAD,
    ),
  ),
  declare('or', SINCE, method('optional_or_optional', [OPTIONAL, OPTIONAL], OPTIONAL, SPECIAL)),
  declare('orValue', SINCE, method('optional_orValue_value', [OPTIONAL, V], V, SPECIAL)),
  declare('_?._', SINCE, global('select_optional_field', [DYN, STRING], OPTIONAL, SPECIAL)),
  declare(
    '_[?_]',
    SINCE,
    global('list_optindex_optional_int', [LIST, INT], OPTIONAL, SPECIAL),
    global('optional_list_optindex_optional_int', [optionalOf(LIST), INT], OPTIONAL, SPECIAL),
    global('map_optindex_optional_value', [MAP, K], OPTIONAL, SPECIAL),
    global('optional_map_optindex_optional_value', [optionalOf(MAP), K], OPTIONAL, SPECIAL),
  ),
  declare(
    '_[_]',
    SINCE,
    global('optional_list_index_int', [optionalOf(LIST), INT], OPTIONAL, SPECIAL),
    global('optional_map_index_value', [optionalOf(MAP), K], OPTIONAL, SPECIAL),
  ),
  declare('last', SINCE, method('list_last', [LIST], OPTIONAL, end(true))),
  declare('first', SINCE, method('list_first', [LIST], OPTIONAL, end(false))),
  declare('optional.unwrap', SINCE, global('optional_unwrap', [listOf(OPTIONAL)], LIST, unwrapAll)),
  declare('unwrapOpt', SINCE, method('optional_unwrapOpt', [listOf(OPTIONAL)], LIST, unwrapAll)),
  declare(
    'cel.@mapInsert',
    TWO_VARIABLES_SINCE,
    global('@mapInsert_map_key_value', [MAP, K, V], MAP, insert),
    global('@mapInsert_map_map', [MAP, MAP], MAP, insert),
  ),
];
