import type { JsonObject } from '../object/clone';
import { cloneJson, deepEqual, getOwn, isJsonObject, setOwn } from '../object/clone';
import { getJsonTypeName } from '../object/json';
import { isDeeper, PATCH_DEPTH_MAX, PatchWork } from './patch-limits';
import { PatchError, TestFailedError } from './patch-error';

/** Largest number of operations in one JSON patch, as in v1.21. */
export const JSON_PATCH_OPERATIONS_MAX = 10_000;
/** Largest size that all `copy` operations of one patch may add, in bytes of JSON. */
const JSON_PATCH_COPIED_BYTES_MAX = 3 * 1024 * 1024;
/**
 * Largest number of values that all `copy` operations of one patch may add; twice the values of the object
 * where that is more. A list that is copied into itself doubles with each short operation.
 */
export const JSON_PATCH_COPIED_VALUES_MAX = 20_000;
/**
 * Largest number of list items that all operations of one patch may shift by insertion or removal, about a
 * nanosecond each. It allows the maximum number of operations in front of a list of 20,000 items.
 */
export const JSON_PATCH_MOVED_ITEMS_MAX = 200_000_000;

/** One operation (RFC 6902, section 4) as decoded JSON. It is checked when it is applied. */
export type JsonPatchOperation = Readonly<JsonObject>;
export type JsonPatch = readonly JsonPatchOperation[];

/**
 * Checks that a decoded body is a JSON patch document. Null counts as an empty patch. Throws PatchError
 * `malformed` or `too-many`.
 */
export function decodeJsonPatch(body: unknown): JsonPatch {
  if (body === null) return [];
  if (!Array.isArray(body)) throw wrongType(body, 'Patch');
  if (isDeeper(body, PATCH_DEPTH_MAX)) {
    throw new PatchError('malformed', `the patch nests deeper than ${String(PATCH_DEPTH_MAX)} levels`);
  }
  const items: readonly unknown[] = body;
  const operations = items.map((item): JsonPatchOperation => {
    if (item === null) return {};
    if (!isJsonObject(item)) throw wrongType(item, 'Operation');
    return item;
  });
  if (operations.length > JSON_PATCH_OPERATIONS_MAX) {
    const found = `The allowed maximum operations in a JSON patch is ${String(JSON_PATCH_OPERATIONS_MAX)}`;
    throw new PatchError('too-many', `${found}, got ${String(operations.length)}`);
  }
  return operations;
}

/** Returns the error for a document or operation of the wrong JSON type. */
function wrongType(value: unknown, type: 'Patch' | 'Operation'): PatchError {
  const given = getJsonTypeName(value);
  return new PatchError(
    'malformed',
    `json: cannot unmarshal ${given} into Go value of type jsonpatch.${type}`,
  );
}

/**
 * Applies a JSON patch (RFC 6902) to a decoded object, all of it or none. Neither argument is changed, so the
 * patch can be applied again to a newer object. The result shares unchanged parts with them, so treat it as
 * frozen. Differences from the RFC are those of Kubernetes v1.21, listed in ADR 0006. Throws PatchError:
 * `failed` for an operation that does not apply, `too-many` beyond the limits above, and those of
 * `decodeJsonPatch`.
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
   * Objects and lists that this patch has copied or made, and may change in place. Every container of one of
   * them is one too, so values of the original never change.
   */
  readonly own: Set<unknown>;
  copiedBytes: number;
  copiedValues: number;
  /** Counted on the first large copy. */
  copiedValuesMax: number | undefined;
  readonly original: Readonly<JsonObject>;
  readonly moved: PatchWork;
}

/** The target of a JSON pointer (RFC 6901): its container, and the key or index as written. */
interface Place {
  readonly holder: JsonObject | unknown[];
  readonly key: string;
}

function apply(patching: Patching, operation: JsonPatchOperation): void {
  const name = getOwn(operation, 'op');
  switch (name) {
    case 'add':
      add(patching, resolveForWrite(patching, operation, 'path'), getOwn(operation, 'value') ?? null);
      return;
    case 'remove':
      remove(patching, resolveForWrite(patching, operation, 'path'));
      return;
    case 'replace':
      replace(resolveForWrite(patching, operation, 'path'), getOwn(operation, 'value') ?? null);
      return;
    case 'move': {
      const from = resolveForWrite(patching, operation, 'from');
      const value = get(from) ?? null;
      remove(patching, from);
      // Resolved after the removal, so that a value cannot move into itself.
      add(patching, resolveForWrite(patching, operation, 'path'), value);
      return;
    }
    case 'copy': {
      const value = get(resolveForRead(patching.document, operation, 'from')) ?? null;
      countCopy(patching, value);
      add(
        patching,
        resolveForWrite(patching, operation, 'path'),
        patching.own.has(value) ? cloneJson(value) : value,
      );
      return;
    }
    case 'test':
      test(resolveForRead(patching.document, operation, 'path'), operation);
      return;
    default:
      throw failed(`Unexpected kind: ${typeof name === 'string' ? name : 'unknown'}`);
  }
}

/** Resolves a target that an operation changes. The patch owns all containers on its path afterwards. */
function resolveForWrite(
  { document, own }: Patching,
  operation: JsonPatchOperation,
  field: 'path' | 'from',
): Place {
  return resolvePointer(document, { operation, field }, (place, next) => {
    if (own.has(next)) return next;
    const copy = Array.isArray(next) ? [...(next as readonly unknown[])] : { ...next };
    own.add(copy);
    replace(place, copy);
    return copy;
  });
}

/** Resolves a target that an operation only reads. */
function resolveForRead(document: JsonObject, operation: JsonPatchOperation, field: 'path' | 'from'): Place {
  return resolvePointer(document, { operation, field }, (_place, next) => next);
}

type Holder = Place['holder'];

/**
 * Resolves a JSON pointer to the container of its last token, which need not exist. As upstream, text before
 * the first slash is ignored, and the whole document is no target. `enter` visits every container on the path.
 */
function resolvePointer(
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

/** Returns the value of a target; undefined for an absent key. Throws for an index out of range. */
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

/** Sets the value of a target. As upstream, an absent key is added; an index must exist. */
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

/** Runs a `test` operation. As upstream, an absent target equals null. */
function test(place: Place, operation: JsonPatchOperation): void {
  const wanted = getOwn(operation, 'value');
  if (wanted === undefined || !deepEqual(get(place) ?? null, wanted)) {
    throw new TestFailedError(`testing value ${JSON.stringify(getOwn(operation, 'path'))} failed`);
  }
}

/** Parses an index. A negative one counts from the end. */
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

/** Counts the values of a JSON value, without keys. It stops soon after `max`. */
function jsonValues(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let total = 1;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    total += jsonValues(item, max - total);
    if (total > max) return total;
  }
  return total;
}

/** Returns the size of the value's compact JSON in bytes, without escapes in strings. It builds no text. */
function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (typeof value !== 'object' || value === null) return String(value).length;
  if (Array.isArray(value)) {
    let total = 2 + Math.max(0, value.length - 1);
    for (const item of value) total += jsonBytes(item);
    return total;
  }
  const entries = Object.entries(value);
  let total = 2 + Math.max(0, entries.length - 1);
  for (const [key, item] of entries) total += Buffer.byteLength(key) + 3 + jsonBytes(item);
  return total;
}
