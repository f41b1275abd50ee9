import { PATTERN_FACTOR, STRING_FACTOR } from './constants';
import { estimateLibraryCall } from './library-estimates';
import { COUNT_MAX, ONE, UNKNOWN, covering, plus, scaled, times } from './ranges';
import type { CallEstimate, CallParts, CostNode, Range } from './ranges';

/** Estimates a call of one signature, with the costs of its arguments (cel-go: `functionCost`). */
export function estimateCall(parts: CallParts): CallEstimate {
  const own = estimateLibraryCall(parts) ?? estimateStandardCall(parts);
  if (own !== undefined) return { ...own, cost: plus(own.cost, ...parts.argCosts) };
  const [first = ONE, second = ONE, third = ONE] = parts.argCosts;
  switch (parts.overloadId) {
    case 'logical_and':
    case 'logical_or':
      return { cost: { min: first.min, max: plus(first, second).max } };
    case 'conditional':
      return {
        cost: plus(first, covering(second, third)),
        size: covering(sizeOf(parts.args[1]), sizeOf(parts.args[2])),
      };
    default:
      return { cost: plus(ONE, ...parts.argCosts) };
  }
}

function sizeOf(node: CostNode | undefined): Range {
  return node?.size ?? UNKNOWN;
}

/** Signatures of the language whose cost depends on sizes. */
function estimateStandardCall({ overloadId, target, args }: CallParts): CallEstimate | undefined {
  const [first, second] = args;
  switch (overloadId) {
    case 'string_format':
      return target && { cost: scaled(sizeOf(target), STRING_FACTOR) };
    case 'string_to_bytes':
    case 'bytes_to_string':
    case 'strings_quote':
      return (
        first && {
          cost: scaled(sizeOf(first), STRING_FACTOR),
          size: convertedSize(overloadId, sizeOf(first)),
        }
      );
    case 'starts_with_string':
    case 'ends_with_string':
      return { cost: scaled(sizeOf(first), STRING_FACTOR) };
    case 'in_list':
      return { cost: sizeOf(second) };
    case 'matches_string':
      return {
        cost: times(scaled(plus(sizeOf(target), ONE), STRING_FACTOR), scaled(sizeOf(first), PATTERN_FACTOR)),
      };
    case 'contains_string':
      return { cost: times(scaled(sizeOf(target), STRING_FACTOR), scaled(sizeOf(first), STRING_FACTOR)) };
    case 'add_string':
    case 'add_bytes':
    case 'add_list': {
      const size = plus(sizeOf(first), sizeOf(second));
      return { cost: overloadId === 'add_list' ? ONE : scaled(size, STRING_FACTOR), size };
    }
    default:
      return isComparison(overloadId) ? { cost: comparison(sizeOf(first), sizeOf(second)) } : undefined;
  }
}

/** Sizes wrap around at 2^64 upstream, so the quotation of a text of unknown size has the size 0. */
function convertedSize(overloadId: string, { min, max }: Range): Range {
  if (overloadId === 'string_to_bytes') return { min, max: Math.min(max * 4, COUNT_MAX) };
  if (overloadId === 'bytes_to_string') return { min: Math.floor(min / 4), max };
  return { min: min + 2, max: max >= COUNT_MAX ? 0 : max * 2 + 2 };
}

function isComparison(overloadId: string): boolean {
  return (
    overloadId === 'equals' ||
    overloadId === 'not_equals' ||
    /^(?:less|greater)(?:_equals)?_(?:string|bytes)$/u.test(overloadId)
  );
}

function comparison(a: Range, b: Range): Range {
  const max = Math.min(a.max, b.max);
  return scaled({ min: max > 0 ? 1 : 0, max }, STRING_FACTOR);
}
