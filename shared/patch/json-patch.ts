import type { JsonObject } from '../object/clone';
import { cloneJson, deepEqual, getOwn, isJsonObject, setOwn } from '../object/clone';
import { getJsonTypeName } from '../object/json';
import { isDeeper, PATCH_DEPTH_MAX } from './depth';
import { jsonBytes, jsonValues } from './json-bytes';
import { PatchError } from './patch-error';
import { PatchWork } from './patch-work';

/** Operations in one patch. */
export const JSON_PATCH_OPERATIONS_MAX = 10_000;
/** What all `copy` operations of one patch may add, in bytes of JSON. */
const JSON_PATCH_COPIED_BYTES_MAX = 3 * 1024 * 1024;
/**
 * How many values all `copy` operations of one patch may add, if the object itself has not half as many: a list that is copied into itself
 * doubles with each short operation.
 */
export const JSON_PATCH_COPIED_VALUES_MAX = 20_000;
/**
 * How many items of lists all operations of one patch may move to the next place, about a nanosecond each. As many operations as there may
 * be can all be in front of a list of 20,000 items; objects that can be stored have few lists as long.
 */
export const JSON_PATCH_MOVED_ITEMS_MAX = 200_000_000;

/** One operation as decoded JSON: an object of which nothing is checked before it is applied. */
export type JsonPatchOperation = Readonly<JsonObject>;
export type JsonPatch = readonly JsonPatchOperation[];

/** Checks that a decoded body is a JSON patch; `null` is the empty one. Throws PatchError `malformed` or `too-many`. */
export function decodeJsonPatch(body: unknown): JsonPatch {
  if (body === null) return [];
  if (!Array.isArray(body)) throw misfit(body, 'Patch');
  if (isDeeper(body, PATCH_DEPTH_MAX)) {
    throw new PatchError('malformed', `the patch nests deeper than ${String(PATCH_DEPTH_MAX)} levels`);
  }
  const items: readonly unknown[] = body;
  const operations = items.map((item): JsonPatchOperation => {
    if (item === null) return {};
    if (!isJsonObject(item)) throw misfit(item, 'Operation');
    return item;
  });
  if (operations.length > JSON_PATCH_OPERATIONS_MAX) {
    const found = `The allowed maximum operations in a JSON patch is ${String(JSON_PATCH_OPERATIONS_MAX)}`;
    throw new PatchError('too-many', `${found}, got ${String(operations.length)}`);
  }
  return operations;
}

/** In the words of upstream's reader. */
function misfit(value: unknown, type: 'Patch' | 'Operation'): PatchError {
  const given = getJsonTypeName(value);
  return new PatchError(
    'malformed',
    `json: cannot unmarshal ${given} into Go value of type jsonpatch.${type}`,
  );
}

/**
 * Applies a JSON patch (RFC 6902) to a decoded object, all of it or none. Neither argument is changed, so the same patch can be applied
 * again to a newer object; the result shares with them what no operation reached into, so treat it as frozen. Differences from the RFC are those of Kubernetes v1.21 and
 * listed in ADR 0006. Throws PatchError `failed`, `too-many` when it moves more items of lists than allowed, and those of `decodeJsonPatch`
 * for a patch that is not decoded yet.
 */
export function applyJsonPatch(original: unknown, patch: unknown): JsonObject {
  const operations = decodeJsonPatch(patch);
  if (!isJsonObject(original)) throw failed('a JSON patch changes an object');
  const document = { ...original };
  const patching: Patching = {
    document,
    own: new Set<unknown>([document]),
    copiedBytes: 0,
    copiedValues: 0,
    copiedValuesMax: undefined,
    original,
    moved: new PatchWork(JSON_PATCH_MOVED_ITEMS_MAX, 'list items moved by a JSON patch'),
  };
  for (const [index, operation] of operations.entries()) {
    try {
      apply(patching, operation);
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
      throw new PatchError(error.kind, `operation ${String(index)}: ${error.message}`, error);
    }
  }
  if (isDeeper(patching.document, PATCH_DEPTH_MAX)) {
    throw failed(`the result nests deeper than ${String(PATCH_DEPTH_MAX)} levels`);
  }
  return patching.document;
}

interface Patching {
  readonly document: JsonObject;
  /**
   * Objects and lists that this patch has copied or made, which it may change in place. Whoever holds one of them is one of them too, so
   * that below any other value nothing ever changes.
   */
  readonly own: Set<unknown>;
  copiedBytes: number;
  copiedValues: number;
  /** Counted once somebody copies much. */
  copiedValuesMax: number | undefined;
  readonly original: Readonly<JsonObject>;
  readonly moved: PatchWork;
}

/** The object or list that holds the place, and the place's key or index as written. */
interface Place {
  readonly holder: JsonObject | unknown[];
  readonly key: string;
}

function apply(patching: Patching, operation: JsonPatchOperation): void {
  const name = getOwn(operation, 'op');
  switch (name) {
    case 'add':
      add(patching, find(patching, operation, 'path'), getOwn(operation, 'value') ?? null);
      return;
    case 'remove':
      remove(patching, find(patching, operation, 'path'));
      return;
    case 'replace':
      replace(find(patching, operation, 'path'), getOwn(operation, 'value') ?? null);
      return;
    case 'move': {
      const from = find(patching, operation, 'from');
      const value = get(from) ?? null;
      remove(patching, from);
      // Looked for after the removal, so that nothing is moved into itself.
      add(patching, find(patching, operation, 'path'), value);
      return;
    }
    case 'copy': {
      const value = get(look(patching.document, operation, 'from')) ?? null;
      countCopy(patching, value);
      add(patching, find(patching, operation, 'path'), patching.own.has(value) ? cloneJson(value) : value);
      return;
    }
    case 'test':
      test(look(patching.document, operation, 'path'), operation);
      return;
    default:
      throw failed(`Unexpected kind: ${typeof name === 'string' ? name : 'unknown'}`);
  }
}

/** The place that an operation changes: everything on the way to it is the patch's own afterwards. */
function find({ document, own }: Patching, operation: JsonPatchOperation, field: 'path' | 'from'): Place {
  return follow(document, { operation, field }, (place, next) => {
    if (own.has(next)) return next;
    const copy = Array.isArray(next) ? [...(next as readonly unknown[])] : { ...next };
    own.add(copy);
    replace(place, copy);
    return copy;
  });
}

/** The place that an operation only reads. */
function look(document: JsonObject, operation: JsonPatchOperation, field: 'path' | 'from'): Place {
  return follow(document, { operation, field }, (_place, next) => next);
}

type Holder = Place['holder'];

/**
 * Follows a JSON pointer to the holder of its last part, which need not exist itself. What stands before the first slash is
 * ignored, and the whole document has no place; both as upstream has it. `enter` sees every holder on the way.
 */
function follow(
  document: JsonObject,
  { operation, field }: { readonly operation: JsonPatchOperation; readonly field: 'path' | 'from' },
  enter: (place: Place, next: Holder) => Holder,
): Place {
  const pointer = getOwn(operation, field);
  if (typeof pointer !== 'string') throw failed(`the operation has no ${field}`);
  const parts = pointer.split('/').slice(1).map(unescapePart);
  const key = parts.pop();
  if (key === undefined)
    throw failed(`the ${field} ${JSON.stringify(pointer)} names no place inside the object`);
  let holder: Holder = document;
  for (const part of parts) {
    const place = { holder, key: part };
    const next: unknown = get(place);
    if (!Array.isArray(next) && !isJsonObject(next)) {
      throw failed(`the object has nothing that holds the ${field} ${JSON.stringify(pointer)}`);
    }
    holder = enter(place, next);
  }
  return { holder, key };
}

function unescapePart(part: string): string {
  return part.replace(/~[01]/g, (escaped) => (escaped === '~1' ? '/' : '~'));
}

/** Undefined for a key that an object lacks; an index outside its list fails. */
function get({ holder, key }: Place): unknown {
  return Array.isArray(holder) ? holder[indexOf(key, holder.length)] : getOwn(holder, key);
}

function add({ moved }: Patching, { holder, key }: Place, value: unknown): void {
  if (!Array.isArray(holder)) setOwn(holder, key, value);
  else if (key === '-') holder.push(value);
  else {
    const index = indexOf(key, holder.length + 1);
    moved.count(holder.length - index);
    holder.splice(index, 0, value);
  }
}

/** A key that an object lacks is added; only in a list the place must exist. */
function replace({ holder, key }: Place, value: unknown): void {
  if (Array.isArray(holder)) holder[indexOf(key, holder.length)] = value;
  else setOwn(holder, key, value);
}

function remove({ moved }: Patching, { holder, key }: Place): void {
  if (Array.isArray(holder)) {
    const index = indexOf(key, holder.length);
    moved.count(holder.length - index);
    holder.splice(index, 1);
  } else if (Object.hasOwn(holder, key)) delete holder[key];
  else throw failed(`Unable to remove nonexistent key: ${key}`);
}

/** An absent place equals null. */
function test(place: Place, operation: JsonPatchOperation): void {
  const wanted = getOwn(operation, 'value');
  if (wanted === undefined || !deepEqual(get(place) ?? null, wanted)) {
    throw failed(`testing value ${JSON.stringify(getOwn(operation, 'path'))} failed`);
  }
}

/** A negative index counts from the end of the places there are. */
function indexOf(key: string, places: number): number {
  if (!/^[+-]?[0-9]{1,9}$/.test(key)) throw failed(`${JSON.stringify(key)} is not an index of a list`);
  const number = Number(key);
  const index = number < 0 ? number + places : number;
  if (index < 0 || index >= places) throw failed(`Unable to access invalid index: ${String(number)}`);
  return index;
}

function countCopy(patching: Patching, value: unknown): void {
  countCopiedValues(patching, value);
  patching.copiedBytes += value === null ? 0 : jsonBytes(value);
  if (patching.copiedBytes > JSON_PATCH_COPIED_BYTES_MAX) {
    const found = `Unable to complete the copy, the accumulated size increase of copy is ${String(patching.copiedBytes)}`;
    throw failed(`${found}, exceeding the limit ${String(JSON_PATCH_COPIED_BYTES_MAX)}`);
  }
}

function countCopiedValues(patching: Patching, value: unknown): void {
  const { original } = patching;
  const before = patching.copiedValues;
  patching.copiedValues += jsonValues(value, JSON_PATCH_COPIED_VALUES_MAX - before);
  if (patching.copiedValues <= JSON_PATCH_COPIED_VALUES_MAX) return;
  patching.copiedValuesMax ??= Math.max(JSON_PATCH_COPIED_VALUES_MAX, 2 * jsonValues(original, Infinity));
  patching.copiedValues = before + jsonValues(value, patching.copiedValuesMax - before);
  if (patching.copiedValues <= patching.copiedValuesMax) return;
  const found = 'Unable to complete the copy, the accumulated number of copied values exceeds the limit';
  throw failed(`${found} ${String(patching.copiedValuesMax)}`);
}

function failed(message: string): PatchError {
  return new PatchError('failed', message);
}
