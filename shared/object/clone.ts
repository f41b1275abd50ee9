/**
 * Copying and comparing decoded JSON by plain recursion: an order of magnitude faster than `structuredClone`. The key `__proto__`
 * is data like any other. Depth is bounded where JSON is decoded, not here.
 */

/** A copy that shares no object or list with the original. Objects without a prototype stay so; scalars are taken as they are. */
export function cloneJson<T>(value: T): T {
  return copy(value) as T;
}

/** True when both say the same: keys in any order, lists in order, numbers by value. A key that holds undefined counts as a key. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b);
  return !Array.isArray(b) && equalObjects(a as JsonObject, b as JsonObject);
}

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets an own property, also one named `__proto__`, which plain assignment would take for the prototype. */
export function setOwn(target: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else target[key] = value;
}

/** The own property of that name, or undefined; never something inherited. */
export function getOwn(source: Readonly<JsonObject>, key: string): unknown {
  return Object.hasOwn(source, key) ? source[key] : undefined;
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (let index = 0; index < value.length; index += 1) list.push(copy(value[index]));
    return list;
  }
  const source = value as JsonObject;
  const target: JsonObject =
    Object.getPrototypeOf(source) === null ? (Object.create(null) as JsonObject) : {};
  for (const key in source) {
    if (Object.hasOwn(source, key)) setOwn(target, key, copy(source[key]));
  }
  return target;
}

function equalLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) {
    if (!deepEqual(a[index], b[index])) return false;
  }
  return true;
}

function equalObjects(a: JsonObject, b: JsonObject): boolean {
  let surplus = 0;
  for (const key in a) {
    if (!Object.hasOwn(b, key) || !deepEqual(a[key], b[key])) return false;
    surplus += 1;
  }
  for (const _key in b) surplus -= 1;
  return surplus === 0;
}
