import { setOwn } from '../object/clone';
import { decodeObject } from './decode';
import type { FieldType, MessageType } from './types';

/** Preserves fields of stored objects that a later release has written and this one does not know. */

type Members = Readonly<Record<string, unknown>>;

/** True when a message has a field that its type does not declare, at any depth. Stops at the first. */
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
  /** Shares every message without additions with `next`. */
  readonly object: T;
  /**
   * Paths of list items whose unknown fields are lost, because the item they belong to cannot be identified.
   */
  readonly lost: readonly string[];
}

/**
 * Adds the unknown fields of the stored object to `next`, which is in canonical form. Unknown fields of a
 * message that `next` no longer has are dropped. List items are matched by their keys. Without keys an
 * unchanged item keeps its unknown fields, and a changed one is named in `lost`, except in managedFields and
 * below `status`.
 */
export function graftUnknownFields<T extends object>(
  type: MessageType<T>,
  next: T,
  stored: object,
): Grafted<T> {
  const lost: string[] = [];
  const object = graftMessage(type, next as unknown as Members, {
    stored: stored as Members,
    path: '',
    lost,
  });
  return { object: object as unknown as T, lost };
}

interface Graft {
  readonly stored: Members;
  readonly path: string;
  readonly lost: string[];
}

function graftMessage(type: MessageType, next: Members, { stored, path, lost }: Graft): Members {
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
    added[key] = graftField(field, now, { value, path: path === '' ? key : `${path}.${key}`, lost });
  }
  return Object.keys(added).length === 0 ? next : { ...next, ...added };
}

interface FieldGraft {
  readonly value: unknown;
  readonly path: string;
  readonly lost: string[];
}

function graftField(field: FieldType, now: object, { value, path, lost }: FieldGraft): unknown {
  const type = messageOf(field);
  if (type === undefined || Array.isArray(now) !== Array.isArray(value)) return now;
  if (Array.isArray(now)) return graftList(field, now as readonly Members[], { value, path, lost });
  const stored = value as Members;
  const members = now as Members;
  if (!field.map) return graftMessage(type, members, { stored, path, lost });
  return Object.fromEntries(
    Object.entries(members).map(([key, each]) => {
      const before = stored[key];
      if (!isMembers(each) || !isMembers(before)) return [key, each];
      return [key, graftMessage(type, each, { stored: before, path: `${path}[${key}]`, lost })];
    }),
  );
}

function graftList(
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
    stored === undefined ? item : graftMessage(type, item, { stored, path: at, lost }),
  );
}

/**
 * True for lists that programs rewrite as a whole from what they observe. A changed item has only what this
 * release knows, and refusing the write would block status updates of nodes.
 */
function isWrittenWhole(path: string): boolean {
  return path === 'metadata.managedFields' || path.startsWith('status.');
}

function decoded(type: MessageType, stored: Members): Members {
  return decodeObject(type, stored).object as Members;
}

/** Returns a text that is equal for items with equal keys, or for equal items where there are no keys. */
function identityOf(item: Members, keys: readonly string[]): string {
  return JSON.stringify(keys.length > 0 ? keys.map((key) => item[key]) : item, comparable);
}

/** JSON replacer that makes equal values equal text. */
function comparable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return isMembers(value) ? Object.fromEntries(Object.entries(value).sort(byKey)) : value;
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** Stored items that no new item matches yet. Of several with one identity the first is taken first. */
class ItemsLeft {
  readonly #byIdentity = new Map<string, (readonly [index: number, item: Members])[]>();

  constructor(items: readonly Members[], identity: (item: Members) => string) {
    // Iterates backwards so that `pop` returns the first item of each identity.
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

  /** Returns the unmatched items in their original order. */
  rest(): readonly (readonly [index: number, item: Members])[] {
    return [...this.#byIdentity.values()].flat().sort(([a], [b]) => a - b);
  }
}

/** True for `kind`, `apiVersion` and every field of an open message. */
function isKnownOtherwise(type: MessageType, key: string): boolean {
  return type.open || (type.typeMeta && (key === 'kind' || key === 'apiVersion'));
}

/** Returns the type of the messages in a field; undefined for scalars and untyped values. */
function messageOf({ kind, message }: FieldType): MessageType | undefined {
  if (kind === 'message') return message;
  return kind.startsWith('schemaOr') ? message?.byName.get('schema')?.message : undefined;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
