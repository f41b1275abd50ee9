import { isJsonObject } from '../object/clone';
import { stringifyExact } from '../object/exact-text';
import { parseExact } from '../schema/exact-json';

/** Elements that are kept so that the same name is written out once, and how long such a name may be. */
const KEPT_ELEMENTS_MAX = 10_000;
const KEPT_NAME_CHARS_MAX = 100;

const fieldElements = new Map<string, string>();
const itemElements = new Map<string, Map<string, string>>();
let keptItems = 0;

/** `f:spec`: a field of an object or a key of a map. */
export function fieldElement(name: string): string {
  const known = fieldElements.get(name);
  if (known !== undefined) return known;
  const element = `f:${name}`;
  if (fieldElements.size < KEPT_ELEMENTS_MAX && name.length <= KEPT_NAME_CHARS_MAX) {
    fieldElements.set(name, element);
  }
  return element;
}

/** `v:"a"`: an item of a set, by its value. */
export function valueElement(value: unknown): string {
  return `v:${jsonOf(value)}`;
}

/** `k:{"name":"a"}`: an item of a list with this one key. */
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

/** `k:{"name":"a"}`: an item of a keyed list. Key names must come sorted. */
export function keyElement(keys: readonly (readonly [string, unknown])[]): string {
  let text = '';
  for (const [name, value] of keys)
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${jsonOf(value)}`;
  return `k:{${text}}`;
}

/** A key's or item's value as JSON; int64 values may be bigints, also inside of what should be no object. */
function jsonOf(value: unknown): string {
  return stringifyExact(value);
}

/** Digits of a list index. */
const INDEX = /^\d{1,9}$/;

/** The canonical form of an element that a client wrote, or undefined if it is none: what items are known by is always scalar. */
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

/** How messages write a path: `.spec.ports[port=80,protocol="TCP"].name`, `.metadata.finalizers[="a"]`. */
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

/** Undefined stands for no value at all. */
function isScalar(value: unknown): boolean {
  return value !== undefined && (typeof value !== 'object' || value === null);
}

/** Integers of so many digits may be larger than a number holds exactly. */
const LONG_NUMBER = /\d{16}/;

function parse(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return LONG_NUMBER.test(text) ? parseExact(text) : value;
  } catch {
    return undefined;
  }
}
