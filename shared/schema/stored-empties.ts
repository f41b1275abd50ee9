import type { FieldType, MessageType } from './types';
import type { ReadonlyJson } from '../object/json';

/**
 * Returns the object as it is read back from the store: null replaces each empty list or map that upstream's
 * Protobuf storage does not distinguish from nil. Returns the same object when nothing changes.
 */
export function withStoredEmpties<T extends object>(type: MessageType, object: T): T {
  return replaceEmpties(type, object as unknown as ReadonlyJson) as unknown as T;
}

interface Part {
  readonly name: string;
  readonly emptyIsNull: boolean;
  readonly isCollection: boolean;
  /** Undefined where no field below it can change. */
  readonly below: MessageType | undefined;
}

function replaceEmpties(type: MessageType, object: ReadonlyJson): ReadonlyJson {
  let result: Record<string, unknown> | undefined;
  for (const { name, emptyIsNull, isCollection, below } of getParts(type)) {
    const value = object[name];
    if (typeof value !== 'object' || value === null) continue;
    let settled: unknown = value;
    if (emptyIsNull && isEmpty(value)) settled = null;
    else if (below !== undefined)
      settled = isCollection
        ? replaceInCollection(below, value)
        : replaceEmpties(below, value as ReadonlyJson);
    if (settled === value) continue;
    result ??= { ...object };
    result[name] = settled;
  }
  return result ?? object;
}

function replaceInCollection(type: MessageType, collection: object): unknown {
  if (!Array.isArray(collection)) return replaceInMap(type, collection as ReadonlyJson);
  let result: unknown[] | undefined;
  for (let at = 0; at < collection.length; at += 1) {
    const each: unknown = collection[at];
    const settled = isObject(each) ? replaceEmpties(type, each) : each;
    if (settled === each) continue;
    result ??= [...(collection as unknown[])];
    result[at] = settled;
  }
  return result ?? collection;
}

function replaceInMap(type: MessageType, map: ReadonlyJson): ReadonlyJson {
  let result: Record<string, unknown> | undefined;
  for (const key in map) {
    const each = map[key];
    const settled = isObject(each) ? replaceEmpties(type, each) : each;
    if (settled === each) continue;
    // A copy of a map of user data has no prototype either.
    result ??= Object.assign(Object.create(null) as Record<string, unknown>, map);
    result[key] = settled;
  }
  return result ?? map;
}

function isObject(value: unknown): value is ReadonlyJson {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmpty(value: object): boolean {
  for (const key in value) if (Object.hasOwn(value, key)) return false;
  return true;
}

const parts = new WeakMap<MessageType, readonly Part[]>();

function getParts(type: MessageType): readonly Part[] {
  const known = parts.get(type);
  if (known !== undefined) return known;
  const made = type.fields.flatMap((field): Part[] => {
    const below = messageOf(field);
    const isOfInterest = below !== undefined && canHoldEmpties(below);
    if (!field.emptyIsNull && !isOfInterest) return [];
    const { name, emptyIsNull, list, map } = field;
    return [{ name, emptyIsNull, isCollection: list || map, below: isOfInterest ? below : undefined }];
  });
  parts.set(type, made);
  return made;
}

/** True when a value of the type can hold such a field at any depth. Types may contain themselves. */
function canHoldEmpties(type: MessageType): boolean {
  const seen = new Set([type]);
  for (const each of seen) {
    for (const field of each.fields) {
      if (field.emptyIsNull) return true;
      const below = messageOf(field);
      if (below !== undefined) seen.add(below);
    }
  }
  return false;
}

function messageOf({ kind, message }: FieldType): MessageType | undefined {
  return kind === 'message' ? message : undefined;
}
