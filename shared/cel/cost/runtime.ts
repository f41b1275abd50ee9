import {
  AUTHORIZATION_CHECK,
  COST,
  PATTERN_FACTOR,
  REQUIREMENTS_PER_CHARACTER,
  STRING_FACTOR,
} from './constants';
import { ListValue, MapValue, OpaqueValue, costSizeOf, mapKeyOf } from '../eval/values';
import type { Result, Value } from '../eval/values';

/** Returns what a call costs, from its arguments, and from its result if `needsResult` is set. */
export interface RuntimeCost {
  (args: readonly Result[], result: Result | undefined): number;
  readonly needsResult?: boolean;
  /** Whether another part answers the call, so that its cost is no work of this thread. */
  readonly isAnswer?: boolean;
}

const ONE: RuntimeCost = () => 1;

/** Reading the argument at an index once, times a factor. */
function traversal(index: number, times = 1): RuntimeCost {
  return (args) => Math.ceil(costSizeOf(args[index] ?? null) * times * STRING_FACTOR);
}

/** A pattern applied to a text; one unit of the text is added, so that patterns cost something on empty texts. */
const search: RuntimeCost = ([text = null, pattern = null]) =>
  Math.ceil((1 + costSizeOf(text)) * STRING_FACTOR) * Math.ceil(costSizeOf(pattern) * PATTERN_FACTOR);

const shorterOfTwo: RuntimeCost = ([a = null, b = null]) =>
  Math.ceil(Math.min(costSizeOf(a), costSizeOf(b)) * STRING_FACTOR);

const bothTexts: RuntimeCost = ([a = null, b = null]) =>
  Math.ceil((costSizeOf(a) + costSizeOf(b)) * STRING_FACTOR);

/** An address or network that is compared, byte by byte, with another one. */
function containment(isNetwork: boolean, isText: boolean): RuntimeCost {
  return ([network = null, other = null]) => {
    const size = costSizeOf(network);
    let units = Math.ceil(2 * size * STRING_FACTOR);
    if (isNetwork) units += Math.ceil(size * STRING_FACTOR) + 1;
    return isText ? units + Math.ceil(costSizeOf(other) * STRING_FACTOR) : units;
  };
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
  ].map((id) => [id, traversal(0)] as const),
  ['in_list', ([, list = null]) => costSizeOf(list)],
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
    ([text = null, part = null]) =>
      Math.ceil(costSizeOf(text) * STRING_FACTOR) * Math.ceil(costSizeOf(part) * STRING_FACTOR),
  ],
]);

const equality: RuntimeCost = (args, result) =>
  args[0] instanceof OpaqueValue ? 1 : shorterOfTwo(args, result);

/** Functions of Kubernetes' libraries (k8s.io/apiserver `cel/library/cost.go`, `CallCost`), by name. */
const BY_FUNCTION = new Map<string, RuntimeCost>([
  ['check', Object.assign(() => AUTHORIZATION_CHECK, { isAnswer: true })],
  ...['fieldSelector', 'labelSelector'].map(
    (name) => [name, (args: readonly Result[]) => selectorCost(costSizeOf(args[1] ?? null))] as const,
  ),
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf', 'includes'].map(
    (name) => [name, (args: readonly Result[]) => (args[0] === undefined ? 0 : treeCost(args[0]))] as const,
  ),
  ...['url', 'lowerAscii', 'upperAscii', 'substring', 'trim', 'jsonpatch.escapeKey'].map(
    (name) => [name, traversal(0)] as const,
  ),
  ['replace', traversal(0, 2)],
  ['split', traversal(0, 2)],
  [
    'join',
    Object.assign(
      (_args: readonly Result[], result: Result | undefined) => traversal(0, 2)([result ?? null], undefined),
      {
        needsResult: true,
      },
    ),
  ],
  ['find', search],
  ['findAll', search],
  ...['cidr', 'isIP', 'isCIDR', 'ip', 'quantity', 'isQuantity', 'semver', 'isSemver'].map(
    (name) => [name, traversal(0)] as const,
  ),
  ['ip.isCanonical', traversal(0, 2)],
  ['_==_', equality],
]);

/** Signatures whose cost depends on more than the name of the function. */
const BY_BOTH = new Map<string, RuntimeCost>([
  ['cidr_ip', ONE],
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
  return BY_OVERLOAD.get(overloadId) ?? ONE;
}

/** cel-go's sets and lists (`ext/sets.go`, `ext/lists.go`) have costs by signature, which come first. */
function listCost(overloadId: string): RuntimeCost | undefined {
  const made = (units: number): number => Math.floor(units) + 1 + COST.createList;
  if (overloadId.startsWith('list_sets_')) {
    const factor = overloadId === 'list_sets_equivalent_list' ? 2 : 1;
    return ([a = null, b = null]) => 1 + costSizeOf(a) * costSizeOf(b) * factor;
  }
  if (/^list_.*_sort(?:ByAssociatedKeys)?$/u.test(overloadId)) {
    const keys = overloadId.endsWith('_sortByAssociatedKeys') ? 1 : 0;
    return (args) => made(comparisonsOf(args[keys] ?? null));
  }
  switch (overloadId) {
    case 'lists_range':
      return ([count = null]) => made(typeof count === 'bigint' ? Math.max(Number(count), 0) : 1);
    case 'list_slice':
      return Object.assign(
        (_: readonly Result[], result: Result | undefined) => made(costSizeOf(result ?? null)),
        {
          needsResult: true,
        },
      );
    case 'list_reverse':
      return ([list = null]) => made(costSizeOf(list));
    case 'list_flatten':
    case 'list_flatten_int':
      return ([list = null, depth = 1n]) =>
        made(costSizeOf(list) * (typeof depth === 'bigint' ? Number(depth) : 1));
    case 'list_distinct':
      return ([list = null]) => made(comparisonsOf(list));
    default:
      return undefined;
  }
}

/** Each element compared with each other one; texts cost a little more. */
function comparisonsOf(list: Result): number {
  const size = costSizeOf(list);
  const first = list instanceof ListValue && size > 0 ? list.at(0) : null;
  const isText = typeof first === 'string' || first instanceof Uint8Array;
  return size * size * (isText ? 2 + STRING_FACTOR : 2);
}

/** A named format says how long its pattern is; upstream's estimate is that of a search with it. */
const formatCost: RuntimeCost = ([format = null, text = null]) => {
  const patternLength = format instanceof OpaqueValue ? (format.patternLength ?? 0) : 0;
  return Math.ceil((1 + costSizeOf(text)) * STRING_FACTOR) * Math.ceil(patternLength * PATTERN_FACTOR);
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
