import type { ApiObject } from '../object/object';
import type { Int64 } from '../object/values';

/** Returns the next generation; an absent one counts as 0. As in v1.21 it is an int64 that wraps around. */
export function nextGeneration(generation: Int64 = 0): Int64 {
  if (typeof generation === 'number' && generation < Number.MAX_SAFE_INTEGER) return generation + 1;
  const next = BigInt.asIntN(64, BigInt(generation) + 1n);
  return Number.isSafeInteger(Number(next)) ? Number(next) : next;
}

/** Sets the generation after that of `previous`. */
export function withNextGeneration<T extends ApiObject>(object: T, { metadata }: ApiObject): T {
  return { ...object, metadata: { ...object.metadata, generation: nextGeneration(metadata.generation) } };
}
