import {
  AUTHORIZATION_CHECK,
  COST,
  PATTERN_FACTOR,
  REQUIREMENTS_PER_CHARACTER,
  STRING_FACTOR,
} from './constants';
import { ListValue, MapValue, OpaqueValue, costSizeOf, mapKeyOf } from '../eval/values';
import type { Result, Value } from '../eval/values';

/**
 * Returns what a call costs, from its first two arguments (undefined for those it does not have), and from its result if `needsResult` is
 * set.
 */
export interface RuntimeCost {
  (first: Result | undefined, second: Result | undefined, result: Result | undefined): number;
  readonly needsResult?: boolean;
  /** Whether another part answers the call, so that its cost is no work of this thread. */
  readonly isAnswer?: boolean;
}

/** The cost of calls that cost one unit whatever their arguments are. */
export const ONE_UNIT: RuntimeCost = () => 1;

const sizeOf = (value: Result | undefined): number => (value === undefined ? 1 : costSizeOf(value));

/** Reading the first argument once, times a factor. */
function traversal(times = 1): RuntimeCost {
  return (first) => Math.ceil(sizeOf(first) * times * STRING_FACTOR);
}

/** A pattern applied to a text; one unit of the text is added, so that patterns cost something on empty texts. */
const search: RuntimeCost = (text, pattern) =>
  Math.ceil((1 + sizeOf(text)) * STRING_FACTOR) * Math.ceil(sizeOf(pattern) * PATTERN_FACTOR);

const shorterOfTwo: RuntimeCost = (a, b) => Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * STRING_FACTOR);

const bothTexts: RuntimeCost = (a, b) => Math.ceil((sizeOf(a) + sizeOf(b)) * STRING_FACTOR);

/** An address or network that is compared, byte by byte, with another one. */
function containment(isNetwork: boolean, isText: boolean): RuntimeCost {
  return (network, other) => {
    const size = sizeOf(network);
    let units = Math.ceil(2 * size * STRING_FACTOR);
    if (isNetwork) units += Math.ceil(size * STRING_FACTOR) + 1;
    return isText ? units + Math.ceil(sizeOf(other) * STRING_FACTOR) : units;
  };
}

/** A cost that depends on the result. */
function ofResult(units: (result: Result | undefined) => number): RuntimeCost {
  const cost: RuntimeCost = (_first, _second, result) => units(result);
  return Object.assign(cost, { needsResult: true });
}

/** Parsing a selector of a given length: the text, and a struct and a list for each requirement. */
export function selectorCost(length: number): number {
  const requirements = Math.ceil(length * REQUIREMENTS_PER_CHARACTER);
  return (
    COST.createList + Math.ceil(length * STRING_FACTOR) + requirements * (COST.createList + COST.createStruct)
  );
}

/** Functions with a cost of their own in cel-go (`interpreter/runtimecost.go`), by signature. */
const BY_OVERLOAD = new Map<string, RuntimeCost>([
  ...[
    'starts_with_string',
    'ends_with_string',
    'string_to_bytes',
    'bytes_to_string',
    'strings_quote',
    'string_format',
  ].map((id) => [id, traversal()] as const),
  ['in_list', (_, list) => sizeOf(list)],
  ...['less', 'greater', 'less_equals', 'greater_equals'].flatMap((id) => [
    [`${id}_string`, shorterOfTwo] as const,
    [`${id}_bytes`, shorterOfTwo] as const,
  ]),
  ['equals', shorterOfTwo],
  ['not_equals', shorterOfTwo],
  ['add_string', bothTexts],
  ['add_bytes', bothTexts],
  ['matches_string', search],
  [
    'contains_string',
    (text, part) => Math.ceil(sizeOf(text) * STRING_FACTOR) * Math.ceil(sizeOf(part) * STRING_FACTOR),
  ],
]);

const equality: RuntimeCost = (a, b, result) => (a instanceof OpaqueValue ? 1 : shorterOfTwo(a, b, result));

/** Functions of Kubernetes' libraries (k8s.io/apiserver `cel/library/cost.go`, `CallCost`), by name. */
const BY_FUNCTION = new Map<string, RuntimeCost>([
  ['check', Object.assign((): number => AUTHORIZATION_CHECK, { isAnswer: true })],
  ...['fieldSelector', 'labelSelector'].map(
    (name) =>
      [name, (_: Result | undefined, text: Result | undefined) => selectorCost(sizeOf(text))] as const,
  ),
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map(
    (name) => [name, (list: Result | undefined) => (list === undefined ? 0 : treeCost(list))] as const,
  ),
  ...['url', 'lowerAscii', 'upperAscii', 'substring', 'trim', 'jsonpatch.escapeKey'].map(
    (name) => [name, traversal()] as const,
  ),
  ['replace', traversal(2)],
  ['split', traversal(2)],
  ['join', ofResult((text) => Math.ceil(sizeOf(text) * 2 * STRING_FACTOR))],
  ['find', search],
  ['findAll', search],
  ...['cidr', 'isIP', 'isCIDR', 'ip', 'quantity', 'isQuantity', 'semver', 'isSemver'].map(
    (name) => [name, traversal()] as const,
  ),
  ['ip.isCanonical', traversal(2)],
  ['_==_', equality],
]);

/** Signatures whose cost depends on more than the name of the function. */
const BY_BOTH = new Map<string, RuntimeCost>([
  ['cidr_ip', ONE_UNIT],
  ['cidr_contains_ip_string', containment(false, true)],
  ['cidr_contains_cidr_string', containment(true, true)],
]);

/**
 * Returns what calls of a function cost at run time.
 *
 * @param overloadId the signature; empty when it is chosen by the values
 */
export function runtimeCost(name: string, overloadId: string): RuntimeCost {
  const known = listCost(overloadId) ?? BY_BOTH.get(overloadId) ?? BY_FUNCTION.get(name);
  if (known !== undefined) return known;
  if (name === 'containsIP' || name === 'containsCIDR') return containment(name === 'containsCIDR', false);
  if (name === 'validate') return formatCost;
  return BY_OVERLOAD.get(overloadId) ?? ONE_UNIT;
}

/** cel-go's sets and lists (`ext/sets.go`, `ext/lists.go`) have costs by signature, which come first. */
function listCost(overloadId: string): RuntimeCost | undefined {
  const made = (units: number): number => Math.floor(units) + 1 + COST.createList;
  if (overloadId.startsWith('list_sets_')) {
    const factor = overloadId === 'list_sets_equivalent_list' ? 2 : 1;
    return (a, b) => 1 + sizeOf(a) * sizeOf(b) * factor;
  }
  if (/^list_.*_sort(?:ByAssociatedKeys)?$/u.test(overloadId)) {
    const hasKeys = overloadId.endsWith('_sortByAssociatedKeys');
    return (list, keys) => made(comparisonsOf(hasKeys ? keys : list));
  }
  switch (overloadId) {
    case 'lists_range':
      return (count) => made(typeof count === 'bigint' ? Math.max(Number(count), 0) : 1);
    case 'list_slice':
      return ofResult((list) => made(sizeOf(list)));
    case 'list_reverse':
      return (list) => made(sizeOf(list));
    case 'list_flatten':
    case 'list_flatten_int':
      return (list, depth = 1n) => made(sizeOf(list) * (typeof depth === 'bigint' ? Number(depth) : 1));
    case 'list_distinct':
      return (list) => made(comparisonsOf(list));
    default:
      return undefined;
  }
}

/** Each element compared with each other one; texts cost a little more. */
function comparisonsOf(list: Result | undefined): number {
  const size = sizeOf(list);
  const first = list instanceof ListValue && size > 0 ? list.at(0) : null;
  const isText = typeof first === 'string' || first instanceof Uint8Array;
  return size * size * (isText ? 2 + STRING_FACTOR : 2);
}

/** A named format says how long its pattern is; upstream's estimate is that of a search with it. */
const formatCost: RuntimeCost = (format, text) => {
  const patternLength = format instanceof OpaqueValue ? (format.patternLength ?? 0) : 0;
  return Math.ceil((1 + sizeOf(text)) * STRING_FACTOR) * Math.ceil(patternLength * PATTERN_FACTOR);
};

/** The cost of reading a value with all its parts; strings count in bytes, rounded down, as upstream does. */
function treeCost(value: Result): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * STRING_FACTOR);
  if (value instanceof Uint8Array) return Math.floor(value.length * STRING_FACTOR);
  if (value instanceof ListValue)
    return Array.from(value).reduce((sum: number, item) => sum + treeCost(item), 0);
  if (!(value instanceof MapValue)) return 1;
  const ofEntry = (key: Value): number => treeCost(key) + treeCost(value.find(mapKeyOf(key) ?? '') ?? null);
  return value.keys().reduce((sum: number, key) => sum + ofEntry(key), 0);
}
