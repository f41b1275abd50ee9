/** The size of the value's compact JSON in bytes, escapes in strings not counted. Builds no text. */
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
