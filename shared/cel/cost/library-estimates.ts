import type { CelType } from '../check/types';
import { isSameType } from '../check/types';
import {
  AUTHORIZATION_CHECK,
  COST,
  FORMAT_PATTERN_LENGTH,
  FORMAT_SIZE_MAX,
  PATTERN_FACTOR,
  REQUIREMENTS_PER_CHARACTER,
  STRING_FACTOR,
} from './constants';
import { COUNT_MAX, ONE, UNKNOWN, exactly, plus, scaled, times } from './ranges';
import type { CallEstimate, CallParts, CostNode, Range } from './ranges';

/** Types of Kubernetes' libraries whose values are compared in one step. */
const ATOMIC = new Set([
  'net.IP',
  'net.CIDR',
  'kubernetes.Quantity',
  'kubernetes.Semver',
  'kubernetes.authorization.Authorizer',
  'kubernetes.authorization.PathCheck',
  'kubernetes.authorization.GroupCheck',
  'kubernetes.authorization.ResourceCheck',
  'kubernetes.authorization.Decision',
]);

/** Functions that cost one unit. */
const CONSTANT = new Set(
  [
    'serviceAccount path group resource subresource namespace name allowed reason error errored',
    'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast',
    'format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch',
    'getScheme getHostname getHost getPort getEscapedPath getQuery',
  ]
    .join(' ')
    .split(' '),
);

/** The most values of an attribute of a device, which `includes` reads (k8s.io/api `resource/v1`). */
export const ATTRIBUTE_VALUES_MAX = 48;

/** The bytes of an address of either family. */
const ADDRESS_BYTES: Range = { min: 4, max: 16 };

type Estimator = (parts: CallParts) => CallEstimate | undefined;

/** Functions that read their argument once. */
function reading(times1: number): Estimator {
  return (parts) => {
    const [first] = parts.args;
    return first && { cost: scaled(size(parts, first), times1 * STRING_FACTOR) };
  };
}

const BY_NAME = new Map<string, Estimator>([
  ...Array.from(CONSTANT, (name) => [name, (): CallEstimate => ({ cost: ONE })] as const),
  ...['cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity', 'semver', 'isSemver'].map(
    (name) => [name, reading(1)] as const,
  ),
  ['ip', (parts) => (parts.overloadId === 'cidr_ip' ? { cost: ONE } : reading(1)(parts))],
  ['ip.isCanonical', reading(2)],
  ['check', () => ({ cost: exactly(AUTHORIZATION_CHECK) })],
  ['containsIP', containment],
  ['containsCIDR', containment],
  [
    'validate',
    (parts) => {
      const read = reading(1)(parts);
      return read && { cost: scaled(read.cost, FORMAT_PATTERN_LENGTH * PATTERN_FACTOR) };
    },
  ],
  ['_==_', ({ args }) => estimateEquality(args)],
  ['url', wholeText],
  ['jsonpatch.escapeKey', wholeText],
  ['fieldSelector', selector],
  ['labelSelector', selector],
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map((name) => [name, search] as const),
  ...['lowerAscii', 'upperAscii', 'substring', 'trim'].map((name) => [name, wholeTarget] as const),
  ['replace', replaced],
  ['split', splitted],
  ['join', joined],
  ['find', found],
  ['includes', ({ target }) => target && { cost: { min: 0, max: ATTRIBUTE_VALUES_MAX } }],
  ['findAll', found],
]);

/** Estimates calls of Kubernetes' libraries; undefined for all others. */
export function estimateLibraryCall(parts: CallParts): CallEstimate | undefined {
  return estimateList(parts) ?? BY_NAME.get(parts.name)?.(parts);
}

function size({ sizeOfPath }: Pick<CallParts, 'sizeOfPath'>, node: CostNode): Range {
  return node.size ?? (node.path.length === 0 ? undefined : sizeOfPath(node.path)) ?? UNKNOWN;
}

/** The elements of a list as a part of the expression; undefined for other types. */
function elementOf(node: CostNode): CostNode | undefined {
  const [type] = node.type.params;
  if (type === undefined) return undefined;
  return {
    path: node.path.length === 0 ? [] : [...node.path, '@items'],
    type,
    expr: undefined,
    size: undefined,
  };
}

function wholeText(parts: CallParts): CallEstimate | undefined {
  const [first] = parts.args;
  return first && { cost: scaled(size(parts, first), STRING_FACTOR), size: size(parts, first) };
}

function wholeTarget(parts: CallParts): CallEstimate | undefined {
  const { target } = parts;
  return target && { cost: scaled(size(parts, target), STRING_FACTOR), size: size(parts, target) };
}

function replaced(parts: CallParts): CallEstimate | undefined {
  const { target } = parts;
  const [from, to] = parts.args;
  if (target === undefined || from === undefined || to === undefined) return undefined;
  const length = size(parts, target);
  return {
    cost: scaled(length, 2 * STRING_FACTOR),
    size: replacedSize(length, size(parts, from), size(parts, to)),
  };
}

function splitted(parts: CallParts): CallEstimate | undefined {
  const { target } = parts;
  if (target === undefined) return undefined;
  const length = size(parts, target);
  return {
    cost: scaled(length, 2 * STRING_FACTOR),
    size: { min: 0, max: limitOf(parts.args[1]) ?? length.max },
  };
}

function found(parts: CallParts): CallEstimate | undefined {
  const { target } = parts;
  const [pattern] = parts.args;
  if (target === undefined || pattern === undefined) return undefined;
  const length = size(parts, target);
  return {
    cost: times(scaled(plus(length, ONE), STRING_FACTOR), scaled(size(parts, pattern), PATTERN_FACTOR)),
    size: { min: 0, max: length.max },
  };
}

function selector(parts: CallParts): CallEstimate | undefined {
  const [first] = parts.args;
  if (first === undefined) return undefined;
  const length = size(parts, first);
  const requirements = scaled(length, REQUIREMENTS_PER_CHARACTER);
  const perRequirement = COST.createList + COST.createStruct;
  return {
    cost: plus(exactly(COST.createList), scaled(length, STRING_FACTOR), scaled(requirements, perRequirement)),
  };
}

/** Each element costs a unit, and is read if it is text. */
function search(parts: CallParts): CallEstimate | undefined {
  const { target } = parts;
  if (target === undefined) return undefined;
  const element = elementOf(target);
  if (element === undefined) return { cost: scaled(size(parts, target), STRING_FACTOR) };
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes';
  const each = isText ? plus(ONE, scaled(size(parts, element), STRING_FACTOR)) : ONE;
  return { cost: times(size(parts, target), each) };
}

/** The limit of a `split`, when it is a constant. */
function limitOf(node: CostNode | undefined): number | undefined {
  const value = node?.expr?.kind === 'literal' ? node.expr.value : undefined;
  if (typeof value !== 'bigint') return undefined;
  return value < 0n ? COUNT_MAX : Number(value);
}

function joined(parts: CallParts): CallEstimate | undefined {
  const { target } = parts;
  if (target === undefined) return undefined;
  const count = size(parts, target);
  const element = elementOf(target);
  let length: Range = element === undefined ? exactly(0) : times(count, size(parts, element));
  const [separator] = parts.args;
  if (separator !== undefined) {
    const separators = { min: Math.max(count.min - 1, 0), max: Math.max(count.max - 1, 0) };
    length = plus(length, times(size(parts, separator), separators));
  }
  return { cost: scaled(length, STRING_FACTOR), size: length };
}

/** The length of a text after replacements: as many of the shortest parts as possible by the longest text, and the other way round. */
function replacedSize(text: Range, from: Range, to: Range): Range {
  const count = { min: 0, max: 0 };
  const kept = { min: 0, max: 0 };
  if (from.min === 0) {
    count.max = Math.min(text.max + 1, COUNT_MAX);
    kept.max = text.max;
  } else if (to.max <= from.min) kept.max = text.max;
  else count.max = Math.ceil(text.max / from.min);
  if (from.max === 0) {
    count.min = Math.min(text.min + 1, COUNT_MAX);
    kept.min = text.min;
  } else if (from.max <= to.min) kept.min = text.min;
  else count.min = Math.ceil(text.min / from.max);
  return plus(times(count, to), kept);
}

function containment(parts: CallParts): CallEstimate | undefined {
  const [other] = parts.args;
  if (other === undefined) return undefined;
  let cost = scaled(plus(ADDRESS_BYTES, ADDRESS_BYTES), STRING_FACTOR);
  if (parts.name === 'containsCIDR') cost = plus(cost, scaled(ADDRESS_BYTES, STRING_FACTOR), ONE);
  const isText =
    parts.overloadId === 'cidr_contains_ip_string' || parts.overloadId === 'cidr_contains_cidr_string';
  return { cost: isText ? plus(cost, scaled(size(parts, other), STRING_FACTOR)) : cost };
}

function estimateEquality([left, right]: readonly CostNode[]): CallEstimate | undefined {
  if (left === undefined || right === undefined || !isSameType(left.type, right.type)) return undefined;
  const { name }: CelType = left.type;
  if (ATOMIC.has(name)) return { cost: ONE };
  if (name === 'kubernetes.NamedFormat')
    return { cost: scaled({ min: 1, max: FORMAT_SIZE_MAX }, STRING_FACTOR) };
  if (name !== 'kubernetes.URL') return undefined;
  const max = right.size?.max ?? 1;
  return { cost: scaled({ min: 1, max }, STRING_FACTOR) };
}

/** A constant number that is not negative; negative ones count as 0. */
function constantOf(node: CostNode | undefined, other: number): number {
  const value = node?.expr?.kind === 'literal' ? node.expr.value : undefined;
  return typeof value === 'bigint' ? Math.max(Number(value), 0) : other;
}

/** cel-go's sets and lists (`ext/sets.go`, `ext/lists.go`) have costs by signature, which come first. */
function estimateList(parts: CallParts): CallEstimate | undefined {
  const { overloadId, target, args } = parts;
  const [first, second] = args;
  const listCall = (factor: number, length: Range): CallEstimate => ({
    cost: plus(scaled(length, factor), ONE, exactly(COST.createList)),
    size: length,
  });
  if (overloadId.startsWith('list_sets_') && first && second) {
    const factor = overloadId === 'list_sets_equivalent_list' ? 2 : 1;
    return { cost: plus(scaled(times(size(parts, first), size(parts, second)), factor), ONE) };
  }
  if (overloadId === 'lists_range') return listCall(1, exactly(constantOf(first, COUNT_MAX)));
  if (target === undefined) return undefined;
  const length = size(parts, target);
  const sortKeys = overloadId.endsWith('_sortByAssociatedKeys') ? first : target;
  if (sortKeys !== undefined && /^list_.*_sort(?:ByAssociatedKeys)?$/u.test(overloadId)) {
    const keyCount = size(parts, sortKeys);
    const isText = /^list_(?:string|bytes)_/u.test(overloadId);
    return listCall(isText ? 2 + STRING_FACTOR : 2, times(keyCount, keyCount));
  }
  switch (overloadId) {
    case 'list_slice':
      return listCall(1, exactly(Math.max(constantOf(second, length.max) - constantOf(first, 0), 0)));
    case 'list_flatten':
    case 'list_flatten_int':
      return listCall(first === undefined ? 1 : constantOf(first, COUNT_MAX), length);
    case 'list_reverse':
      return listCall(1, length);
    case 'list_distinct':
      return listCall(2, times(length, length));
    default:
      return undefined;
  }
}
