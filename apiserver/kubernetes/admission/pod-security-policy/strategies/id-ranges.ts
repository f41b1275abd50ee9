import type { IDRange } from '../../../../../shared/api/types/policy-v1beta1';
import type { Int64 } from '../../../../../shared/object/values';

export function isInRanges(id: Int64, ranges: readonly IDRange[]): boolean {
  return ranges.some(({ min, max }) => id >= min && id <= max);
}

/** Formats ranges as upstream does: `[{1 10} {20 30}]`. */
export function textOfRanges(ranges: readonly IDRange[]): string {
  return `[${ranges.map(({ min, max }) => `{${String(min)} ${String(max)}}`).join(' ')}]`;
}
