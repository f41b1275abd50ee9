import { isJsonObject } from '../meta/clone';

/** `f:spec`: a field of an object or a key of a map. */
export function fieldElement(name: string): string {
  return `f:${name}`;
}

/** `v:"a"`: an item of a set, by its value. */
export function valueElement(value: unknown): string {
  return `v:${jsonOf(value)}`;
}

/** `k:{"name":"a"}`: an item of a keyed list. Key names must come sorted. */
export function keyElement(keys: readonly (readonly [string, unknown])[]): string {
  let text = '';
  for (const [name, value] of keys)
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${jsonOf(value)}`;
  return `k:{${text}}`;
}

/** A key's or item's value as JSON; int64 values may be bigints. */
function jsonOf(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'null');
}

/** Digits of a list index. */
const INDEX = /^\d{1,9}$/;

/** The canonical form of an element that a client wrote, or undefined if it is none. */
export function canonicalElement(element: string): string | undefined {
  if (element.startsWith('f:')) return element;
  const text = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'i:':
      return INDEX.test(text) ? `i:${String(Number(text))}` : undefined;
    case 'v:': {
      const value = parse(text);
      return value === undefined ? undefined : valueElement(value);
    }
    case 'k:': {
      const value = parse(text);
      if (!isJsonObject(value) || Object.keys(value).length === 0) return undefined;
      return keyElement(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
