import type { JsonObject } from '../object/clone';
import { getOwn, isJsonObject, setOwn } from '../object/clone';
import { stringifyExact } from '../object/exact-text';
import { getJsonTypeName } from '../object/json';
import type { FieldType, MessageType } from '../schema/types';
import { isDeeper, PATCH_DEPTH_MAX, PatchWork } from './patch-limits';
import { PatchError } from './patch-error';
import type { ListRule } from './strategic-lists';
import { mergeLists, mergeListsInOrder, newValue, withoutValues } from './strategic-lists';

/**
 * Largest number of fields and list items that all merges of one patch may visit, about a microsecond each. A
 * storable object is visited once; a patch that names one item repeatedly could multiply that.
 */
export const STRATEGIC_PATCH_MERGED_MAX = 1_000_000;

/** Position of a merge: in a message, in a map (whose values are of `values`), or in an untyped value. */
interface Place {
  readonly type?: MessageType | undefined;
  readonly values?: FieldType | undefined;
  readonly work: PatchWork;
}

/**
 * Applies a strategic merge patch to a decoded object of a kind with a schema, whose patch strategies and
 * merge keys say how lists and structs merge. It supports the directives `$patch`, `$retainKeys`,
 * `$setElementOrder` and `$deleteFromPrimitiveList`. Neither argument is changed; the result shares unmerged
 * parts with both, so treat it as frozen. The result may hold fields of wrong types and unused directives:
 * decode it. Rules and known differences are in ADR 0010. Throws PatchError: `malformed` for an invalid patch,
 * `failed` for one that does not apply, `too-many` for one that merges more than allowed.
 */
export function applyStrategicPatch(type: MessageType, original: unknown, patch: unknown): JsonObject {
  if (!isJsonObject(original)) throw failed('a strategic merge patch changes an object');
  if (patch === null) return original;
  if (!isJsonObject(patch)) {
    const given = getJsonTypeName(patch);
    throw new PatchError(
      'malformed',
      `json: cannot unmarshal ${given} into Go value of type map[string]interface {}`,
    );
  }
  if (isDeeper(patch, PATCH_DEPTH_MAX)) {
    throw new PatchError('malformed', `the patch nests deeper than ${String(PATCH_DEPTH_MAX)} levels`);
  }
  const work = new PatchWork(
    STRATEGIC_PATCH_MERGED_MAX,
    'fields and list items merged by a strategic merge patch',
  );
  return mergeObjects({ type, work }, original, patch);
}

function mergeObjects(place: Place, original: Readonly<JsonObject>, patch: Readonly<JsonObject>): JsonObject {
  const directive = getOwn(patch, PATCH);
  if (directive === 'delete') return {};
  if (directive === 'replace') return without(patch, PATCH);
  if (directive !== undefined) throw unknownDirective(directive);
  place.work.count(Object.keys(original).length);
  const result = applyRetainKeys(original, patch);
  const done = new Set([PATCH, RETAIN_KEYS]);
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(SET_ORDER)) continue;
    const name = key.slice(SET_ORDER.length);
    done.add(key).add(name);
    mergeInOrder({ place, result, name }, getOwn(patch, name), patch[key]);
  }
  for (const key of Object.keys(patch)) {
    if (!done.has(key)) mergeKey(place, result, key, patch[key]);
  }
  return result;
}

function mergeKey(place: Place, result: JsonObject, key: string, change: unknown): void {
  if (key.startsWith(DELETE_FROM_LIST)) {
    deleteFromList(place, result, { name: key.slice(DELETE_FROM_LIST.length), change });
    return;
  }
  if (change === null) {
    delete result[key];
    return;
  }
  const current = getOwn(result, key);
  const merged = mergeValues(fieldAt(place, key), current, { change, work: place.work });
  if (merged === undefined) delete result[key];
  else setOwn(result, key, merged);
}

/**
 * `$deleteFromPrimitiveList`: removes scalars from a list. As upstream, for another list it is a change of the
 * list itself: null removes it, another value replaces it, and structs merge into it.
 */
function deleteFromList(
  place: Place,
  result: JsonObject,
  { name, change }: { readonly name: string; readonly change: unknown },
): void {
  const list = getOwn(result, name);
  const isOfStructs = Array.isArray(list) && list.some((item) => isJsonObject(item));
  if (!Array.isArray(change) || isOfStructs) {
    mergeKey(place, result, name, change);
    return;
  }
  if (!Array.isArray(list)) return;
  place.work.count(list.length);
  setOwn(result, name, withoutValues(list, change));
}

function mergeValues(
  field: FieldType | undefined,
  current: unknown,
  { change, work }: { readonly change: unknown; readonly work: PatchWork },
): unknown {
  if (isJsonObject(change) && isJsonObject(current)) {
    if (getPatchStrategy(field) === 'replace') return change;
    return mergeObjects(placeIn(field, work), current, change);
  }
  if (!Array.isArray(change) || !Array.isArray(current)) return newValue(change);
  if (getPatchStrategy(field) !== 'merge' || field?.list !== true) return change;
  work.count(current.length + change.length);
  return mergeLists(ruleOf(field, work), current, change);
}

/** `$setElementOrder`: merges the list with its patched items in this order and the others in between. */
function mergeInOrder(
  { place, result, name }: { readonly place: Place; readonly result: JsonObject; readonly name: string },
  change: unknown,
  order: unknown,
): void {
  const field = fieldAt(place, name);
  const current = getOwn(result, name);
  if (!Array.isArray(order)) throw failed(`${SET_ORDER}${name} is not a list`);
  if (change === null) delete result[name];
  if (change === null || (change === undefined && current === undefined)) return;
  if (change !== undefined && !Array.isArray(change)) throw failed(`${name} is not a list`);
  if (getPatchStrategy(field) !== 'merge' || field === undefined) {
    if (change !== undefined) setOwn(result, name, change);
    return;
  }
  const live: readonly unknown[] | undefined = Array.isArray(current) ? current : undefined;
  place.work.count((live?.length ?? 0) + (change?.length ?? 0) + order.length);
  setOwn(result, name, mergeListsInOrder(ruleOf(field, place.work), { live, change, order }));
}

/** Returns the original without the fields that `$retainKeys` does not name. */
function applyRetainKeys(original: Readonly<JsonObject>, patch: Readonly<JsonObject>): JsonObject {
  const keys = getOwn(patch, RETAIN_KEYS);
  if (keys === undefined) return { ...original };
  if (!Array.isArray(keys)) throw new PatchError('malformed', 'invalid patch format of retainKeys');
  const kept = new Set<unknown>(keys);
  for (const [key, value] of Object.entries(patch)) {
    const isDirective = key === RETAIN_KEYS || key.startsWith(SET_ORDER) || key.startsWith(DELETE_FROM_LIST);
    if (!isDirective && value !== null && !kept.has(key)) {
      throw new PatchError('malformed', 'invalid patch format of retainKeys');
    }
  }
  const result: JsonObject = {};
  for (const key of Object.keys(original)) if (kept.has(key)) setOwn(result, key, original[key]);
  return result;
}

function fieldAt({ type, values }: Place, key: string): FieldType | undefined {
  return values ?? type?.byName.get(key);
}

/**
 * Returns the position inside the value of a field. Values of a map are messages or scalars of the field's
 * type, never lists.
 */
function placeIn(field: FieldType | undefined, work: PatchWork): Place {
  if (field === undefined) return { work };
  return field.map ? { values: { ...field, map: false }, work } : { type: field.message, work };
}

function ruleOf(field: FieldType, work: PatchWork): ListRule {
  return {
    mergeKey: field.patchMergeKey,
    merge: (current, change) => mergeObjects({ type: field.message, work }, current, change),
  };
}

function without(object: Readonly<JsonObject>, key: string): JsonObject {
  const { [key]: _removed, ...rest } = object;
  return rest;
}

function unknownDirective(directive: unknown): PatchError {
  return failed(`unknown patch type: ${stringifyExact(directive)}`);
}

function failed(message: string): PatchError {
  return new PatchError('failed', message);
}

const PATCH = '$patch';
const RETAIN_KEYS = '$retainKeys';
const SET_ORDER = '$setElementOrder/';
const DELETE_FROM_LIST = '$deleteFromPrimitiveList/';

/**
 * Returns the patch strategy `merge` or `replace`, or '' for none. `retainKeys` applies to keys and is not a
 * strategy of the whole.
 */
function getPatchStrategy(field: FieldType | undefined): string {
  const strategies = (field?.patchStrategy ?? '').split(',').filter((each) => each !== 'retainKeys');
  return strategies[0] ?? '';
}
