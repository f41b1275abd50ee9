import { compareKeys } from '../meta/key-order';

/**
 * Returns a key that is equal for equal values: a scalar itself, or the JSON of objects and lists with sorted
 * keys.
 */
export function uniqueKey(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? `"${value}` : value;
  return canonicalText(value);
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
