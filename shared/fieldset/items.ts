import { isJsonObject } from '../object/clone';
import { keyElement, singleKeyElement, valueElement } from './path-element';
import type { KeyShape, ListShape } from './shape';

/** Returns the path element of a list item, or why it has none. */
export function getItemElement(shape: ListShape, item: unknown): string | { readonly problem: string } {
  if (shape.kind === 'set') {
    return typeof item === 'object' && item !== null
      ? { problem: 'associative list without keys has an element that is no scalar' }
      : valueElement(item);
  }
  if (item === null) return { problem: 'associative list with keys may not have a null element' };
  if (!isJsonObject(item)) return { problem: 'associative list with keys may not have non-map elements' };
  const [only] = shape.keys;
  if (only !== undefined && shape.keys.length === 1) {
    const value = item[only.name] ?? only.default;
    if (value !== undefined) return singleKeyElement(only.name, value);
  }
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

/** True when the item has a path element; formats nothing. */
export function hasElement(shape: ListShape, item: unknown): boolean {
  if (shape.kind === 'set') return typeof item !== 'object' || item === null;
  if (!isJsonObject(item)) return false;
  for (const { name, default: standard } of shape.keys) {
    if ((item[name] ?? standard) === undefined) return false;
  }
  return true;
}

/**
 * Groups the items of a list by path element, in order. Returns undefined when an item has none: such a list
 * is atomic.
 */
export function itemsByElement(
  shape: ListShape,
  list: readonly unknown[],
): Map<string, unknown[]> | undefined {
  const items = new Map<string, unknown[]>();
  for (const item of list) {
    const named = getItemElement(shape, item);
    if (typeof named !== 'string') return undefined;
    const same = items.get(named);
    if (same === undefined) items.set(named, [item]);
    else same.push(item);
  }
  return items;
}

/** True when both items have the same keys; formats nothing. */
function isSameItem(shape: ListShape, a: unknown, b: unknown): boolean {
  if (shape.kind === 'set') return a === b;
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  for (const { name, default: standard } of shape.keys) {
    const key = a[name] ?? standard;
    if (key === undefined || key !== (b[name] ?? standard)) return false;
  }
  return true;
}

/** Lists up to this length are compared pairwise, which allocates nothing. */
const PAIRWISE_ITEMS_MAX = 32;

/** True when no two items have the same path element. Every item must have one. */
export function hasDistinctItems(shape: ListShape, list: readonly unknown[]): boolean {
  if (list.length > PAIRWISE_ITEMS_MAX) return itemsByElement(shape, list)?.size === list.length;
  if (list.length < 2) return true;
  const [only] = shape.kind === 'keyed' && shape.keys.length === 1 ? shape.keys : [];
  if (only !== undefined) return areDistinct(list.map((item) => keyOf(only, item)));
  for (let at = 1; at < list.length; at += 1) {
    for (let before = 0; before < at; before += 1) {
      if (isSameItem(shape, list[before], list[at])) return false;
    }
  }
  return true;
}

function keyOf({ name, default: standard }: KeyShape, item: unknown): unknown {
  return isJsonObject(item) ? (item[name] ?? standard) : undefined;
}

/** Absent keys are not equal. */
function areDistinct(keys: readonly unknown[]): boolean {
  for (let at = 1; at < keys.length; at += 1) {
    const key = keys[at];
    if (key === undefined) continue;
    for (let before = 0; before < at; before += 1) if (keys[before] === key) return false;
  }
  return true;
}

/** True when both lists have the same items in the same order. */
export function isAligned(shape: ListShape, a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (!isSameItem(shape, a[at], b[at])) return false;
  return true;
}
