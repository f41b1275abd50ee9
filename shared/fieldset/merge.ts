import { ShapeError } from './applied';
import { deepEqual, isJsonObject, setOwn } from '../object/clone';
import { getItemElement, isAligned } from './items';
import { ownValue } from './own-value';
import type { ListShape, ObjectShape, Shape } from './shape';
import { DEDUCED_OBJECT } from './shape';
import type { JsonObject } from '../object/clone';

/**
 * Merges an applied configuration into the live object: maps and structs by key, items of sets and keyed lists
 * by path element, everything else as a whole. Live items keep their order and new items follow. Neither
 * argument is changed; the result shares with both, and is the live object itself when nothing changes. The
 * configuration must have passed `appliedSet`. Throws ShapeError, without a path, where it merges into a live
 * list that has an item without a key.
 */
export function mergeConfig(shape: ObjectShape, live: object, config: object): Readonly<JsonObject> {
  return mergeFields(shape, live as JsonObject, config as JsonObject);
}

/** Returns the live object itself when nothing changes, so that comparing it later is free. */
function mergeFields(
  shape: ObjectShape,
  live: Readonly<JsonObject>,
  config: Readonly<JsonObject>,
): Readonly<JsonObject> {
  let result: JsonObject | undefined;
  for (const key in config) {
    const theirs = config[key];
    if (theirs === undefined) continue;
    const mine = ownValue(live, key);
    const merged = mine === undefined ? theirs : mergeValues(fieldOf(shape, key), mine, theirs);
    if (merged === mine) continue;
    result ??= { ...live };
    setOwn(result, key, merged);
  }
  return result ?? live;
}

function fieldOf(shape: ObjectShape, key: string): Shape {
  return shape.fields.get(key) ?? shape.others ?? { kind: 'leaf' };
}

/** An empty or absent container in the configuration leaves the live container unchanged. */
function mergeValues(shape: Shape, live: unknown, config: unknown): unknown {
  switch (shape.kind) {
    case 'ignored':
    case 'leaf':
      return orLive(live, config);
    case 'deduced':
      if (config !== null && !isJsonObject(config)) return orLive(live, config);
      return mergeObjects(DEDUCED_OBJECT, live, config);
    case 'object':
      return mergeObjects(shape, live, config);
    case 'set':
    case 'keyed':
    default:
      if (!Array.isArray(live) || live.length === 0) return orLive(live, config);
      return Array.isArray(config) ? mergeLists(shape, live, config) : live;
  }
}

function mergeObjects(shape: ObjectShape, live: unknown, config: unknown): unknown {
  if (!isJsonObject(live) || Object.keys(live).length === 0) return orLive(live, config);
  return isJsonObject(config) ? mergeFields(shape, live, config) : live;
}

function orLive(live: unknown, config: unknown): unknown {
  return deepEqual(live, config) ? live : config;
}

function mergeLists(
  shape: ListShape,
  live: readonly unknown[],
  config: readonly unknown[],
): readonly unknown[] {
  if (isAligned(shape, live, config)) return mergeAligned(shape, live, config);
  const wanted = new Map<string, unknown>();
  for (const item of config) {
    const named = getItemElement(shape, item);
    if (typeof named === 'string') wanted.set(named, item);
  }
  const result: unknown[] = [];
  /** Positions in the result. */
  const seen = new Map<string, number>();
  for (const item of live) {
    const element = getItemElement(shape, item);
    if (typeof element !== 'string') throw new ShapeError([], element.problem);
    if (!wanted.has(element)) {
      result.push(item);
      continue;
    }
    const mine = wanted.get(element);
    const at = seen.get(element);
    if (at === undefined) {
      seen.set(element, result.length);
      result.push(shape.kind === 'keyed' ? mergeValues(shape.element, item, mine) : mine);
    } else {
      // The applied item replaces live items that repeat its key, and merges with none of them.
      result[at] = mine;
    }
  }
  for (const [element, item] of wanted) if (!seen.has(element)) result.push(item);
  const isSame = result.length === live.length && result.every((item, at) => item === live[at]);
  return isSame ? live : result;
}

/**
 * Merges lists with the same items in the same order, the common case. The configuration has no duplicates, so
 * neither has the live list.
 */
function mergeAligned(
  shape: ListShape,
  live: readonly unknown[],
  config: readonly unknown[],
): readonly unknown[] {
  if (shape.kind === 'set') return live;
  let result: unknown[] | undefined;
  for (let at = 0; at < live.length; at += 1) {
    const merged = mergeValues(shape.element, live[at], config[at]);
    if (merged !== live[at]) (result ??= [...live])[at] = merged;
  }
  return result ?? live;
}
