import type { FunctionDeclaration, VariableDeclaration } from '../check/declarations';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  NULL,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
  listOf,
  mapOf,
  paramOf,
  typeOf,
} from '../check/types';
import type { CelType } from '../check/types';
import { add, divide, modulo, multiply, negate, subtract } from '../eval/arithmetic';
import {
  convertToBool,
  convertToBytes,
  convertToDouble,
  convertToDuration,
  convertToInt,
  convertToString,
  convertToTimestamp,
  convertToUint,
} from '../eval/convert';
import { isEqual } from '../eval/equality';
import {
  EvalError,
  ListValue,
  MapValue,
  NO_OVERLOAD,
  TypeValue,
  characterCount,
  mapKeyOf,
  typeOfValue,
} from '../eval/values';
import type { Result, Value } from '../eval/values';
import { indexInto } from '../eval/select';
import { COMPARISONS } from './comparisons';
import { declare, global, method, onStrings } from './functions';
import { compilePattern } from './regular-expressions';
import { TIME_FUNCTIONS } from './times';

const A = paramOf('A');
const B = paramOf('B');
const LIST = listOf(A);
const MAP = mapOf(A, B);

/** The names of types, which are values. */
export const STANDARD_TYPES: readonly VariableDeclaration[] = [
  ...[BOOL, BYTES, DOUBLE, DURATION, INT, NULL, STRING, TIMESTAMP, UINT].map((type) =>
    typeName(type.name, type),
  ),
  typeName('list', LIST),
  typeName('map', MAP),
  typeName('type', TYPE),
];

function typeName(name: string, type: CelType): VariableDeclaration {
  return { name, type: typeOf(type), value: new TypeValue(type) };
}

function same(
  id: string,
  types: readonly CelType[],
  run: (a: Value, b: Value) => Result,
): ReturnType<typeof global>[] {
  return types.map((type) =>
    global(`${id}_${NUMBER_NAMES.get(type) ?? type.name}`, [type, type], type, (a = null, b = null) =>
      run(a, b),
    ),
  );
}

const NUMBER_NAMES = new Map<CelType, string>([
  [INT, 'int64'],
  [UINT, 'uint64'],
]);

function operator2(name: string, ids: ReturnType<typeof global>[]): FunctionDeclaration {
  return declare(name, 0, ...ids);
}

function timeOverloads(
  name: 'add' | 'subtract',
  run: (a: Value, b: Value) => Result,
): ReturnType<typeof global>[] {
  const row = (id: string, [a, b]: readonly [CelType, CelType], result: CelType): ReturnType<typeof global> =>
    global(`${name}_${id}`, [a, b], result, (left = null, right = null) => run(left, right));
  return [
    row('duration_duration', [DURATION, DURATION], DURATION),
    ...(name === 'add' ? [row('duration_timestamp', [DURATION, TIMESTAMP], TIMESTAMP)] : []),
    row('timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
    ...(name === 'subtract' ? [row('timestamp_timestamp', [TIMESTAMP, TIMESTAMP], DURATION)] : []),
  ];
}

/** The planner evaluates these operators itself, because they do not evaluate all of their arguments. */
const SPECIAL = (): Result => NO_OVERLOAD;

const OPERATORS: readonly FunctionDeclaration[] = [
  declare('_?_:_', 0, global('conditional', [BOOL, A, A], A, SPECIAL)),
  declare('_&&_', 0, global('logical_and', [BOOL, BOOL], BOOL, SPECIAL)),
  declare('_||_', 0, global('logical_or', [BOOL, BOOL], BOOL, SPECIAL)),
  declare(
    '!_',
    0,
    global('logical_not', [BOOL], BOOL, (a) => (typeof a === 'boolean' ? !a : NO_OVERLOAD)),
  ),
  declare('@not_strictly_false', 0, global('not_strictly_false', [BOOL], BOOL, SPECIAL)),
  declare(
    '_==_',
    0,
    global('equals', [A, A], BOOL, (a = null, b = null) => isEqual(a, b)),
  ),
  declare(
    '_!=_',
    0,
    global('not_equals', [A, A], BOOL, (a = null, b = null) => !isEqual(a, b)),
  ),
  operator2('_+_', [
    ...same('add', [BYTES, DOUBLE], add),
    ...timeOverloads('add', add),
    ...same('add', [INT], add),
    global('add_list', [LIST, LIST], LIST, (a = null, b = null) => add(a, b)),
    ...same('add', [STRING, UINT], add),
  ]),
  operator2('_/_', same('divide', [DOUBLE, INT, UINT], divide)),
  operator2('_%_', same('modulo', [INT, UINT], modulo)),
  operator2('_*_', same('multiply', [DOUBLE, INT, UINT], multiply)),
  declare(
    '-_',
    0,
    global('negate_double', [DOUBLE], DOUBLE, (a = null) => negate(a)),
    global('negate_int64', [INT], INT, (a = null) => negate(a)),
  ),
  operator2('_-_', [
    ...same('subtract', [DOUBLE], subtract),
    ...timeOverloads('subtract', subtract),
    ...same('subtract', [INT, UINT], subtract),
  ]),
  declare(
    '_[_]',
    0,
    global('index_list', [LIST, INT], A, (a = null, b = null) => indexInto(a, b)),
    global('index_map', [MAP, A], B, (a = null, b = null) => indexInto(a, b)),
  ),
  declare('@in', 0, global('in_list', [A, LIST], BOOL, contains), global('in_map', [A, MAP], BOOL, contains)),
];

function contains(element: Value = null, container: Value = null): Result {
  if (container instanceof ListValue) {
    for (const item of container) if (isEqual(element, item)) return true;
    return false;
  }
  if (!(container instanceof MapValue)) return NO_OVERLOAD;
  const key = mapKeyOf(element);
  return key !== undefined && container.find(key) !== undefined;
}

function sizeOf(value: Value = null): Result {
  if (typeof value === 'string') return BigInt(characterCount(value));
  if (value instanceof ListValue || value instanceof MapValue) return BigInt(value.size);
  return value instanceof Uint8Array ? BigInt(value.length) : NO_OVERLOAD;
}

function conversion(
  type: CelType,
  run: (value: Value) => Result,
  ids: readonly (readonly [string, CelType])[],
): FunctionDeclaration {
  const name = type === TIMESTAMP ? 'timestamp' : type === DURATION ? 'duration' : type.name;
  return declare(name, 0, ...ids.map(([id, from]) => global(id, [from], type, (value = null) => run(value))));
}

const CONVERSIONS: readonly FunctionDeclaration[] = [
  declare(
    'type',
    0,
    global('type', [A], typeOf(A), (value = null) => new TypeValue(typeOfValue(value))),
  ),
  declare(
    'dyn',
    0,
    global('to_dyn', [A], DYN, (value = null) => value),
  ),
  conversion(BOOL, convertToBool, [
    ['bool_to_bool', BOOL],
    ['string_to_bool', STRING],
  ]),
  conversion(BYTES, convertToBytes, [
    ['bytes_to_bytes', BYTES],
    ['string_to_bytes', STRING],
  ]),
  conversion(DOUBLE, convertToDouble, [
    ['double_to_double', DOUBLE],
    ['int64_to_double', INT],
    ['string_to_double', STRING],
    ['uint64_to_double', UINT],
  ]),
  conversion(DURATION, convertToDuration, [
    ['duration_to_duration', DURATION],
    ['string_to_duration', STRING],
  ]),
  conversion(INT, convertToInt, [
    ['int64_to_int64', INT],
    ['double_to_int64', DOUBLE],
    ['duration_to_int64', DURATION],
    ['string_to_int64', STRING],
    ['timestamp_to_int64', TIMESTAMP],
    ['uint64_to_int64', UINT],
  ]),
  conversion(STRING, convertToString, [
    ['string_to_string', STRING],
    ['bool_to_string', BOOL],
    ['bytes_to_string', BYTES],
    ['double_to_string', DOUBLE],
    ['duration_to_string', DURATION],
    ['int64_to_string', INT],
    ['timestamp_to_string', TIMESTAMP],
    ['uint64_to_string', UINT],
  ]),
  conversion(TIMESTAMP, convertToTimestamp, [
    ['timestamp_to_timestamp', TIMESTAMP],
    ['int64_to_timestamp', INT],
    ['string_to_timestamp', STRING],
  ]),
  conversion(UINT, convertToUint, [
    ['uint64_to_uint64', UINT],
    ['double_to_uint64', DOUBLE],
    ['int64_to_uint64', INT],
    ['string_to_uint64', STRING],
  ]),
];

const matches = onStrings((text = '', pattern = '') => {
  const compiled = compilePattern(pattern);
  return compiled instanceof EvalError ? compiled : compiled.test(text);
});

const STRINGS: readonly FunctionDeclaration[] = [
  declare(
    'size',
    0,
    ...(
      [
        [BYTES, 'bytes'],
        [LIST, 'list'],
        [MAP, 'map'],
        [STRING, 'string'],
      ] as const
    ).flatMap(([type, name]) => [
      global(`size_${name}`, [type], INT, sizeOf),
      method(`${name}_size`, [type], INT, sizeOf),
    ]),
  ),
  declare(
    'contains',
    0,
    method(
      'contains_string',
      [STRING, STRING],
      BOOL,
      onStrings((a = '', b = '') => a.includes(b)),
    ),
  ),
  declare(
    'endsWith',
    0,
    method(
      'ends_with_string',
      [STRING, STRING],
      BOOL,
      onStrings((a = '', b = '') => a.endsWith(b)),
    ),
  ),
  declare(
    'startsWith',
    0,
    method(
      'starts_with_string',
      [STRING, STRING],
      BOOL,
      onStrings((a = '', b = '') => a.startsWith(b)),
    ),
  ),
  declare(
    'matches',
    0,
    global('matches', [STRING, STRING], BOOL, matches),
    method('matches_string', [STRING, STRING], BOOL, matches),
  ),
];

/** The functions of the language itself, with cel-go's signatures (`common/stdlib/standard.go`). */
export const STANDARD_FUNCTIONS: readonly FunctionDeclaration[] = [
  ...OPERATORS,
  ...COMPARISONS,
  ...CONVERSIONS,
  ...STRINGS,
  ...TIME_FUNCTIONS,
];
