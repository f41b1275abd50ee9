import { setOwn } from '../object/clone';
import { decodeObject } from './decode';
import type { FieldType, MessageType } from './types';

/** Fields of stored values that the schema does not know: a later release has written them. */

type Members = Readonly<Record<string, unknown>>;

/** Whether a message has a member that its type does not know, anywhere in it. Stops at the first. */
export function hasUnknownFields(type: MessageType, value: unknown): boolean {
  if (!isMembers(value)) return false;
  for (const key in value) {
    const field = type.byName.get(key);
    if (field === undefined) {
      if (!isKnownOtherwise(type, key)) return true;
      continue;
    }
    const inner = messageOf(field);
    if (inner !== undefined && hasUnknownIn(field, inner, value[key])) return true;
  }
  return false;
}

function hasUnknownIn(field: FieldType, type: MessageType, value: unknown): boolean {
  if (Array.isArray(value)) return value.some((each) => hasUnknownFields(type, each));
  if (field.map && isMembers(value)) {
    return Object.values(value).some((each) => hasUnknownFields(type, each));
  }
  return hasUnknownFields(type, value);
}

export interface Grafted<T> {
  /** Shares with `next` what got nothing. */
  readonly object: T;
  /** Paths of list items whose unknown fields have no place any more, because nobody can tell which item they belong to now. */
  readonly lost: readonly string[];
}

/**
 * `next`, in canonical form, with the unknown fields of the stored object, each in the message that it stands in. They go with a message
 * that `next` has no more. Items of lists are told by their keys; where they have none, an item that has not changed keeps its own, and
 * one that may have been changed or replaced is named in `lost`, but for owners of fields and what stands below `status`.
 */
export function graftUnknownFields<T extends object>(
  type: MessageType<T>,
  next: T,
  stored: object,
): Grafted<T> {
  const lost: string[] = [];
  const object = grafted(type, next as unknown as Members, { stored: stored as Members, path: '', lost });
  return { object: object as unknown as T, lost };
}

interface Graft {
  readonly stored: Members;
  readonly path: string;
  readonly lost: string[];
}

function grafted(type: MessageType, next: Members, { stored, path, lost }: Graft): Members {
  const added: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(stored)) {
    const field = type.byName.get(key);
    if (field === undefined) {
      if (!isKnownOtherwise(type, key)) setOwn(added, key, value);
      continue;
    }
    const inner = messageOf(field);
    const now = next[key];
    if (inner === undefined || typeof now !== 'object' || now === null) continue;
    if (!hasUnknownIn(field, inner, value)) continue;
    added[key] = graftedField(field, now, { value, path: path === '' ? key : `${path}.${key}`, lost });
  }
  return Object.keys(added).length === 0 ? next : { ...next, ...added };
}

interface FieldGraft {
  readonly value: unknown;
  readonly path: string;
  readonly lost: string[];
}

function graftedField(field: FieldType, now: object, { value, path, lost }: FieldGraft): unknown {
  const type = messageOf(field);
  if (type === undefined || Array.isArray(now) !== Array.isArray(value)) return now;
  if (Array.isArray(now)) return graftedList(field, now as readonly Members[], { value, path, lost });
  const stored = value as Members;
  const members = now as Members;
  if (!field.map) return grafted(type, members, { stored, path, lost });
  return Object.fromEntries(
    Object.entries(members).map(([key, each]) => {
      const before = stored[key];
      if (!isMembers(each) || !isMembers(before)) return [key, each];
      return [key, grafted(type, each, { stored: before, path: `${path}[${key}]`, lost })];
    }),
  );
}

function graftedList(
  field: FieldType,
  now: readonly Members[],
  { value, path, lost }: FieldGraft,
): readonly Members[] {
  const type = messageOf(field);
  if (type === undefined) return now;
  const before = (value as readonly unknown[]).filter(isMembers);
  const keys = field.listMapKeys ?? (field.patchMergeKey === undefined ? [] : [field.patchMergeKey]);
  const isKeyed = keys.length > 0;
  const left = new ItemsLeft(before, (stored) => identityOf(isKeyed ? stored : decoded(type, stored), keys));
  const result = now.map((item, index) => ({
    item,
    stored: left.take(identityOf(item, keys)),
    at: `${path}[${String(index)}]`,
  }));
  const isGuess = !isKeyed && !isWrittenWhole(path) && result.some(({ stored }) => stored === undefined);
  if (isGuess) {
    for (const [index, stored] of left.rest()) {
      if (hasUnknownFields(type, stored)) lost.push(`${path}[${String(index)}]`);
    }
  }
  return result.map(({ item, stored, at }) =>
    stored === undefined ? item : grafted(type, item, { stored, path: at, lost }),
  );
}

/**
 * Lists that programs make anew from what they see, not people: an item that has changed is what this release knows of it, and nobody could
 * write it otherwise. A node that could not tell how its containers are would be the greater loss.
 */
function isWrittenWhole(path: string): boolean {
  return path === 'metadata.managedFields' || path.startsWith('status.');
}

function decoded(type: MessageType, stored: Members): Members {
  return decodeObject(type, stored).object as Members;
}

/** A text that items have in common which are the same: their keys, or all of them. */
function identityOf(item: Members, keys: readonly string[]): string {
  return JSON.stringify(keys.length > 0 ? keys.map((key) => item[key]) : item, comparable);
}

/** A value of JSON as it is alike for all that are equal. */
function comparable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return isMembers(value) ? Object.fromEntries(Object.entries(value).sort(byKey)) : value;
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** Stored items that no new one is the same as yet. Of those with one identity the first is taken first. */
class ItemsLeft {
  readonly #byIdentity = new Map<string, (readonly [index: number, item: Members])[]>();

  constructor(items: readonly Members[], identity: (item: Members) => string) {
    // From the end on, so that the first one is the last of its list.
    for (let index = items.length - 1; index >= 0; index -= 1) {
      const item = items[index];
      if (item === undefined) continue;
      const key = identity(item);
      const same = this.#byIdentity.get(key);
      if (same === undefined) this.#byIdentity.set(key, [[index, item]]);
      else same.push([index, item]);
    }
  }

  take(identity: string): Members | undefined {
    return this.#byIdentity.get(identity)?.pop()?.[1];
  }

  /** In their order. */
  rest(): readonly (readonly [index: number, item: Members])[] {
    return [...this.#byIdentity.values()].flat().sort(([a], [b]) => a - b);
  }
}

/** `kind` and `apiVersion`, and whatever an open message has. */
function isKnownOtherwise(type: MessageType, key: string): boolean {
  return type.open || (type.typeMeta && (key === 'kind' || key === 'apiVersion'));
}

/** The type of the messages in a field; undefined for scalars, and for values that are kept as they are. */
function messageOf({ kind, message }: FieldType): MessageType | undefined {
  if (kind === 'message') return message;
  return kind.startsWith('schemaOr') ? message?.byName.get('schema')?.message : undefined;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
