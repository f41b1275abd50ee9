import { compareKeys } from '../meta/key-order';

/**
 * Returns a key that is equal for equal values: a scalar itself, or the JSON of objects and lists with sorted
 * keys. Numbers are equal in any notation: `1e18` is `1000000000000000000`.
 */
export function uniqueKey(value: unknown): unknown {
  if (typeof value === 'number') return isLongInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? `"${value}` : value;
  return canonicalText(value);
}

/** An integer of more than 53 bits that was read as floating point, at most 1024 bits. */
function isLongInteger(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/**
 * Returns JSON with sorted keys, as Go writes it. For an object or list it begins with a bracket, so it never
 * equals the key of a scalar.
 */
export function canonicalText(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  const object = value as Readonly<Record<string, unknown>>;
  const fields = Object.keys(object)
    .sort(compareKeys)
    .map((key) => `${JSON.stringify(key)}:${canonicalText(object[key])}`);
  return `{${fields.join(',')}}`;
}
