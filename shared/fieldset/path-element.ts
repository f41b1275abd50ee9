import { isJsonObject } from '../object/clone';
import { stringifyExact } from '../object/exact-text';
import { parseExact } from '../schema/exact-json';

/** Size of the cache of path elements, and longest name in it. */
const KEPT_ELEMENTS_MAX = 10_000;
const KEPT_NAME_CHARS_MAX = 100;

const fieldElements = new Map<string, string>();
const itemElements = new Map<string, Map<string, string>>();
let keptItems = 0;

/** Formats `f:spec`: a field of an object or a key of a map. */
export function fieldElement(name: string): string {
  const known = fieldElements.get(name);
  if (known !== undefined) return known;
  const element = `f:${name}`;
  if (fieldElements.size < KEPT_ELEMENTS_MAX && name.length <= KEPT_NAME_CHARS_MAX) {
    fieldElements.set(name, element);
  }
  return element;
}

/** Formats `v:"a"`: an item of a set, by its value. */
export function valueElement(value: unknown): string {
  return `v:${jsonOf(value)}`;
}

/** Formats `k:{"name":"a"}`: an item of a list with one key. */
export function singleKeyElement(name: string, value: unknown): string {
  if (typeof value !== 'string') return `k:{${JSON.stringify(name)}:${jsonOf(value)}}`;
  let known = itemElements.get(name);
  const found = known?.get(value);
  if (found !== undefined) return found;
  const element = `k:{${JSON.stringify(name)}:${JSON.stringify(value)}}`;
  if (keptItems < KEPT_ELEMENTS_MAX && name.length + value.length <= KEPT_NAME_CHARS_MAX) {
    if (known === undefined) itemElements.set(name, (known = new Map()));
    known.set(value, element);
    keptItems += 1;
  }
  return element;
}

/** Formats `k:{"name":"a"}`: an item of a keyed list. Key names must be sorted. */
export function keyElement(keys: readonly (readonly [string, unknown])[]): string {
  let text = '';
  for (const [name, value] of keys)
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${jsonOf(value)}`;
  return `k:{${text}}`;
}

/** Returns a key's or item's value as JSON. An int64 may be a bigint. */
function jsonOf(value: unknown): string {
  return stringifyExact(value);
}

/** Matches a list index. */
const INDEX = /^\d{1,9}$/;

/**
 * Returns the canonical form of a client's path element, or undefined if it is invalid. Keys and values of
 * items must be scalars.
 */
export function canonicalElement(element: string): string | undefined {
  if (element.startsWith('f:')) return element;
  const text = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'i:':
      return INDEX.test(text) ? `i:${String(Number(text))}` : undefined;
    case 'v:': {
      const value = parse(text);
      return isScalar(value) ? valueElement(value) : undefined;
    }
    case 'k:': {
      const value = parse(text);
      if (!isJsonObject(value)) return undefined;
      const keys = Object.entries(value);
      if (keys.length === 0 || !keys.every(([, each]) => isScalar(each))) return undefined;
      return keyElement(keys.sort(([a], [b]) => (a < b ? -1 : 1)));
    }
    default:
      return undefined;
  }
}

/**
 * Formats a path as messages show it: `.spec.ports[port=80,protocol="TCP"].name`,
 * `.metadata.finalizers[="a"]`.
 */
export function displayPath(path: readonly string[]): string {
  return path.map(display).join('');
}

function display(element: string): string {
  const text = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'i:':
      return `[${text}]`;
    case 'v:':
      return `[=${text}]`;
    case 'k:': {
      const keys = parse(text);
      const entries = isJsonObject(keys) ? Object.entries(keys) : [];
      return `[${entries.map(([name, value]) => `${name}=${jsonOf(value)}`).join(',')}]`;
    }
    default:
      return `.${text}`;
  }
}

/** True for a scalar; undefined counts as none. */
function isScalar(value: unknown): boolean {
  return value !== undefined && (typeof value !== 'object' || value === null);
}

/** Matches integers that may exceed 53 bits. */
const LONG_NUMBER = /\d{16}/;

function parse(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return LONG_NUMBER.test(text) ? parseExact(text) : value;
  } catch {
    return undefined;
  }
}
