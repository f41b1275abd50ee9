import type { ApiObject } from '../object/object';
import type { Int64 } from '../object/values';

/** What comes after a generation; none counts as 0. Of 64 bits, as v1.21 counts: after the greatest comes the least. */
export function nextGeneration(generation: Int64 = 0): Int64 {
  if (typeof generation === 'number' && generation < Number.MAX_SAFE_INTEGER) return generation + 1;
  const next = BigInt.asIntN(64, BigInt(generation) + 1n);
  return Number.isSafeInteger(Number(next)) ? Number(next) : next;
}

/** The object with the generation that comes after that of `previous`. */
export function withNextGeneration<T extends ApiObject>(object: T, { metadata }: ApiObject): T {
  return { ...object, metadata: { ...object.metadata, generation: nextGeneration(metadata.generation) } };
}
