/**
 * Returns a table for look-ups by text from clients. As a Map it finds its own rows only: with a plain object, the key `constructor` or
 * `__proto__` would find a property of `Object.prototype` (prototype pollution).
 */
export function ownKeyMap<Row>(rows: Readonly<Record<string, Row>>): ReadonlyMap<string, Row> {
  return new Map(Object.entries(rows));
}
