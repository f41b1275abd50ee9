import { isJsonObject } from '../meta/clone';
import { keyElement, valueElement } from './path-element';
import type { ListShape } from './shape';

/** The path element of one item of a list, or why it has none. */
export function elementOfItem(shape: ListShape, item: unknown): string | { readonly problem: string } {
  if (shape.kind === 'set') {
    return typeof item === 'object' && item !== null
      ? { problem: 'associative list without keys has an element that is no scalar' }
      : valueElement(item);
  }
  if (item === null) return { problem: 'associative list with keys may not have a null element' };
  if (!isJsonObject(item)) return { problem: 'associative list with keys may not have non-map elements' };
  const keys: (readonly [string, unknown])[] = [];
  for (const { name, default: standard } of shape.keys) {
    const value = item[name] ?? standard;
    if (value === undefined) {
      const what = 'associative list with keys has an element that omits key field';
      return { problem: `${what} ${JSON.stringify(name)} (and doesn't have default value)` };
    }
    keys.push([name, value]);
  }
  return keyElement(keys);
}

/**
 * The items of a list by their element, in their order; items with the same element stand together. Undefined when an item has no
 * element: such a list is one unit.
 */
export function itemsByElement(
  shape: ListShape,
  list: readonly unknown[],
): Map<string, unknown[]> | undefined {
  const items = new Map<string, unknown[]>();
  for (const item of list) {
    const named = elementOfItem(shape, item);
    if (typeof named !== 'string') return undefined;
    const same = items.get(named);
    if (same === undefined) items.set(named, [item]);
    else same.push(item);
  }
  return items;
}

/** True when both items have the same keys; builds no text. */
export function isSameItem(shape: ListShape, a: unknown, b: unknown): boolean {
  if (shape.kind === 'set') return a === b;
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  return shape.keys.every(({ name, default: standard }) => {
    const key = a[name] ?? standard;
    return key !== undefined && key === (b[name] ?? standard);
  });
}
