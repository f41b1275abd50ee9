/** Counts the values of a JSON value, without keys. It stops soon after `max`. */
export function jsonValues(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let total = 1;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    total += jsonValues(item, max - total);
    if (total > max) return total;
  }
  return total;
}

/** Returns the size of the value's compact JSON in bytes, without escapes in strings. It builds no text. */
export function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (typeof value !== 'object' || value === null) return String(value).length;
  if (Array.isArray(value)) {
    let total = 2 + Math.max(0, value.length - 1);
    for (const item of value) total += jsonBytes(item);
    return total;
  }
  const entries = Object.entries(value);
  let total = 2 + Math.max(0, entries.length - 1);
  for (const [key, item] of entries) total += Buffer.byteLength(key) + 3 + jsonBytes(item);
  return total;
}
