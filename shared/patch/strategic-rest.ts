import type { JsonObject } from '../object/clone';
import { getOwn, isJsonObject, setOwn } from '../object/clone';
import type { FieldType, MessageType } from '../schema/types';
import { DELETE_FROM_LIST, PATCH, RETAIN_KEYS, SET_ORDER, strategyOf } from './strategic-directives';

/** Where in the object: in a message, in a map (whose values are of `values`), or where nothing is known. */
interface Place {
  readonly type?: MessageType | undefined;
  readonly values?: FieldType | undefined;
}

/**
 * What v1.21 has left of a strategic merge patch once it has merged it, which is what it shows where the result does not fit the kind: merging takes
 * from the patch the directives that were carried out in it, and the lists whose order they say. Neither argument is changed.
 */
export function restOfStrategicPatch(
  type: MessageType,
  original: Readonly<JsonObject>,
  patch: Readonly<JsonObject>,
): JsonObject {
  return restOf({ type }, original, patch);
}

function restOf(place: Place, original: Readonly<JsonObject>, patch: Readonly<JsonObject>): JsonObject {
  const directive = getOwn(patch, PATCH);
  const rest: JsonObject = { ...patch };
  if (directive === 'replace') delete rest[PATCH];
  if (directive !== undefined) return rest;
  const kept = keptBy(getOwn(patch, RETAIN_KEYS));
  delete rest[RETAIN_KEYS];
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(SET_ORDER)) continue;
    delete rest[key];
    delete rest[key.slice(SET_ORDER.length)];
  }
  for (const [key, change] of Object.entries(rest)) {
    const current = kept?.has(key) === false ? undefined : getOwn(original, key);
    if (key.startsWith(DELETE_FROM_LIST) || current === undefined) continue;
    setOwn(rest, key, restOfValue(fieldAt(place, key), current, change));
  }
  return rest;
}

function keptBy(keys: unknown): ReadonlySet<unknown> | undefined {
  return Array.isArray(keys) ? new Set<unknown>(keys) : undefined;
}

function restOfValue(field: FieldType | undefined, current: unknown, change: unknown): unknown {
  if (isJsonObject(current) && isJsonObject(change)) {
    return strategyOf(field) === 'replace' ? change : restOf(placeIn(field), current, change);
  }
  const isMerged = Array.isArray(current) && Array.isArray(change) && strategyOf(field) === 'merge';
  if (!isMerged || field?.patchMergeKey === undefined) return change;
  return restOfItems(field, current, change);
}

function restOfItems(field: FieldType, current: readonly unknown[], change: readonly unknown[]): unknown {
  const { patchMergeKey: name = '', message: type } = field;
  const keyOf = (item: unknown): unknown => (isJsonObject(item) ? getOwn(item, name) : undefined);
  const items = new Map(current.map((item) => [keyOf(item), item]));
  return change.map((item) => {
    const known = items.get(keyOf(item));
    const isMerged = isJsonObject(item) && isJsonObject(known) && getOwn(item, PATCH) === undefined;
    return isMerged ? restOf({ type }, known, item) : item;
  });
}

function fieldAt({ type, values }: Place, key: string): FieldType | undefined {
  return values ?? type?.byName.get(key);
}

function placeIn(field: FieldType | undefined): Place {
  if (field === undefined) return {};
  return field.map ? { values: { ...field, map: false } } : { type: field.message };
}
