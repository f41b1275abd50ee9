/**
 * Where an object as it was sent had empty lists and maps that are left out, or are null once they are stored. Go tells them from nothing
 * until then, and some rules of upstream compare so. It goes along with copies of the object, and is no part of it.
 */
export const EMPTIED = Symbol('emptied');

interface Sent {
  readonly [EMPTIED]?: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The names of the empty lists and maps in this field of the object, its own among them, as far as they were sent. */
export function emptiedIn(object: object, field: string): ReadonlySet<string> {
  return (object as Sent)[EMPTIED]?.get(field) ?? NONE;
}

/** `object`, which was made from `sent`, with what is known of that. */
export function withEmptiedOf<T extends object>(sent: object, object: T): T {
  const emptied = (sent as Sent)[EMPTIED];
  return emptied === undefined || (object as Sent)[EMPTIED] === emptied
    ? object
    : { ...object, [EMPTIED]: emptied };
}

const NONE: ReadonlySet<string> = new Set();
