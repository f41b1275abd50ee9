import type { Random } from '../../../access/authentication/testing/random';
import { placesIn, replacedAt } from './json-places';

/** Repeats the items of a list, the fields of an object under other names, or the characters of a text. Undefined for what is no JSON. */
export function growJson(input: Buffer, random: Random): ((size: number) => Buffer) | undefined {
  let root: unknown;
  try {
    root = JSON.parse(input.toString('utf8'));
  } catch {
    return undefined;
  }
  const place = random.pick(placesIn(root));
  const inOrder = random.chance(0.5);
  return (size) => {
    const unit = Math.max(JSON.stringify(place.value).length, 8);
    return Buffer.from(
      JSON.stringify(replacedAt(place, repeated(place.value, Math.ceil(size / unit), inOrder))),
    );
  };
}

function repeated(value: unknown, count: number, inOrder: boolean): unknown {
  const numbers = Array.from({ length: count }, (_, index) => (inOrder ? index : count - index));
  if (Array.isArray(value)) return numbers.flatMap(() => value as unknown[]);
  if (typeof value === 'string') return value.repeat(count);
  if (typeof value !== 'object' || value === null) return numbers.map(() => value);
  const entries = Object.entries(value);
  return Object.fromEntries([
    ...entries,
    ...numbers.flatMap((number) => entries.map(([key, each]) => [`${key}${String(number)}`, each] as const)),
  ]);
}
