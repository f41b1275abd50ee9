import { MEDIA_TYPE } from '../../../shared/names';
import type { JsonObject } from '../../../shared/object/clone';
import { getOwn, isJsonObject, setOwn } from '../../../shared/object/clone';
import { NumberText } from '../../../shared/object/exact-text';
import type { ObjectMeta } from '../../../shared/object/object';
import { messageType } from '../../../shared/schema/types';
import { inOrder, jsonBytesOf } from '../../../shared/schema/reader-words/document-words';

/**
 * The JSON that v1.21 makes of what a JSON or merge patch has made, before it reads it as an object: what the patch went into has its names in
 * order, all else stands as in the object.
 */
export function patchedText(patched: unknown, mediaType: string, document: unknown): Buffer {
  const visited = mediaType === MEDIA_TYPE.jsonPatch ? visitedByOperations(document) : document;
  return jsonBytesOf(orderedWhere(patched, visited));
}

/** Metadata with its fields as its message declares them, which is how v1.21 writes them. */
export function inDeclaredOrder(metadata: ObjectMeta): ObjectMeta {
  const given: Readonly<Record<string, unknown>> = { ...metadata };
  const names = OBJECT_META.declared.map(({ name }) => name).filter((name) => given[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, given[name]]));
}

const OBJECT_META = messageType('meta/v1.ObjectMeta');

/** The holders of all places that operations name, as objects in one another. The names are the client's, so nothing inherited is ever taken. */
function visitedByOperations(operations: unknown): JsonObject {
  const root: JsonObject = {};
  if (!Array.isArray(operations)) return root;
  for (const operation of operations as readonly unknown[]) {
    if (!isJsonObject(operation)) continue;
    visit(root, getOwn(operation, 'path'));
    visit(root, getOwn(operation, 'from'));
  }
  return root;
}

function visit(root: JsonObject, pointer: unknown): void {
  if (typeof pointer !== 'string') return;
  const keys = pointer.split('/').slice(1, -1);
  let at = root;
  for (const key of keys) {
    const name = key.replace(/~1/g, '/').replace(/~0/g, '~');
    const there = getOwn(at, name);
    const inner = isJsonObject(there) ? there : {};
    if (inner !== there) setOwn(at, name, inner);
    at = inner;
  }
}

function orderedWhere(value: unknown, visited: unknown): unknown {
  if (Array.isArray(visited)) return inOrder(value);
  if (!isJsonObject(visited)) return value;
  if (Array.isArray(value)) {
    return value.map((item, index) => orderedWhere(item, getOwn(visited, String(index))));
  }
  if (!isJsonObject(value) || value instanceof NumberText) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, orderedWhere(each, getOwn(visited, name))]));
}
