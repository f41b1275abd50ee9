import { fromEntries, placesIn, replacedAt } from './json-places';
import { mutateBytes } from './mutate-bytes';
import type { Material, Mutator } from './mutator';
import { INPUT_BYTES_MAX } from './mutator';

/** Changes one to four values or keys of a JSON document, which stays one. Bytes that are no JSON are changed as bytes. */
export const mutateJson: Mutator = (input, material) => {
  let value: unknown;
  try {
    value = JSON.parse(input.toString('utf8'));
  } catch {
    return mutateBytes(input, material);
  }
  for (let left = 1 + material.random.below(4); left > 0; left -= 1)
    value = changedSomewhere(value, material);
  const text = textOf(value);
  return text === undefined || text.length > INPUT_BYTES_MAX
    ? mutateBytes(input, material)
    : Buffer.from(text);
};

/** Undefined for a value that several changes have nested too deep to be written. */
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** JSON inside something else: `read` takes it out, or says undefined, and `write` puts it back. */
export function mutateInside(
  read: (
    input: Buffer,
    material: Material,
  ) => { readonly json: Buffer; readonly write: (json: Buffer) => Buffer } | undefined,
): Mutator {
  return (input, material) => {
    const inside = read(input, material);
    return inside === undefined
      ? mutateBytes(input, material)
      : inside.write(mutateJson(inside.json, material));
  };
}

const LEVELS_MAX = 1_200;
const COPIES_MAX = 60;
const SCALARS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  2 ** 31,
  2 ** 53,
  '',
  ' ',
  'a',
  '0',
  '-1',
  '*',
  '\0',
  '\ud800',
  '😀',
  '../..',
  '{{.}}',
  '__proto__',
  'constructor',
  'x'.repeat(300),
  [],
  {},
  [null],
  [[]],
  { '': '' },
];
const KEYS = [
  '',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'length',
  '$patch',
  'a.b',
  'a/b',
  '~1',
  '0',
];

function changedSomewhere(root: unknown, material: Material): unknown {
  const { random } = material;
  const place = random.pick(placesIn(root));
  return replacedAt(place, random.pick(CHANGES)(place.value, material, root));
}

/** What stands in the place of a value; undefined: nothing. */
type Change = (value: unknown, material: Material, root: unknown) => unknown;

const CHANGES: readonly Change[] = [
  () => undefined,
  (_value, { random }) => random.pick(SCALARS),
  (_value, { random }) => random.pick(SCALARS),
  (_value, { random, words }) => (words.length === 0 ? '' : random.pick(words)),
  (_value, { random }, root) => random.pick(placesIn(root)).value,
  (value, { random, other }) => {
    try {
      const donor: unknown = JSON.parse(other.toString('utf8'));
      return random.pick(placesIn(donor)).value;
    } catch {
      return value;
    }
  },
  (value, { random }) =>
    nested(value, random.chance(0.1) ? random.below(LEVELS_MAX) : 1 + random.below(3), random.chance(0.5)),
  (value, { random }) => Array.from({ length: 1 + random.below(COPIES_MAX) }, () => value),
  (value, { random, words }) => {
    if (!isObject(value)) return value;
    const entries = Object.entries(value);
    if (entries.length === 0) return fromEntries([[random.pick([...KEYS, ...words]), null]]);
    const one = random.below(entries.length);
    return fromEntries(
      entries.map(([key, each], index) => [index === one ? random.pick([...KEYS, ...words]) : key, each]),
    );
  },
  (value, { random, words }) =>
    isObject(value)
      ? fromEntries([...Object.entries(value), [random.pick([...KEYS, ...words]), random.pick(SCALARS)]])
      : value,
  (value, material) =>
    typeof value === 'string' ? mutateBytes(Buffer.from(value), material).toString('utf8') : value,
  (value, { random }) => (Array.isArray(value) ? random.shuffled(value as readonly unknown[]) : value),
];

function nested(value: unknown, levels: number, asList: boolean): unknown {
  let result = value;
  for (let level = 0; level < levels; level += 1) result = asList ? [result] : { a: result };
  return result;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
