import { compareKeys } from '../meta/key-order';

/** A value by which two values can be compared in a set: scalars by themselves, objects and lists by a text with sorted keys. */
export function uniqueKey(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? `"${value}` : value;
  return canonicalText(value);
}

/** JSON with sorted keys, as Go writes it; that of an object or list begins with a bracket, so that it is no scalar's key. */
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
