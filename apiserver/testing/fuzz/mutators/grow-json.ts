import type { Random } from '../../../../shared/testing/random';
import type { Place } from './json-places';
import { placeAt, placesIn, replacedAt } from './json-places';

/**
 * Repeats, in one place or in two of them, the items of a list, the fields of an object under other names, or the characters of a text.
 * Undefined for what is no JSON.
 */
export function growJson(input: Buffer, random: Random): ((size: number) => Buffer) | undefined {
  let root: unknown;
  try {
    root = JSON.parse(input.toString('utf8'));
  } catch {
    return undefined;
  }
  const all = placesIn(root);
  const paths = Array.from({ length: 1 + random.below(2) }, () => pathOf(random.pick(all)));
  const inOrder = random.chance(0.5);
  return (size) => {
    let grown = root;
    for (const path of paths) {
      // What grew before may have taken its place.
      const place = placeAt(grown, path);
      if (place === undefined) continue;
      const unit = Math.max(JSON.stringify(place.value).length, 8);
      const count = Math.ceil(size / paths.length / unit);
      grown = replacedAt(place, repeated(place.value, count, inOrder));
    }
    return Buffer.from(JSON.stringify(grown));
  };
}

function pathOf({ above, key }: Place): readonly (string | number)[] {
  return above === undefined ? [] : [...pathOf(above), key];
}

function repeated(value: unknown, count: number, inOrder: boolean): unknown {
  const numbers = Array.from({ length: count }, (_, index) => (inOrder ? index : count - index));
  if (Array.isArray(value)) return numbers.flatMap(() => value as unknown[]);
  if (typeof value === 'string') return value.repeat(count);
  if (typeof value !== 'object' || value === null) return numbers.map(() => value);
  const entries = Object.entries(value);
  const more = numbers.flatMap((number) =>
    entries.map(([key, each]) => [`${key}${String(number)}`, each] as const),
  );
  return Object.fromEntries([...entries, ...more]);
}
