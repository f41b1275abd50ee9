/**
 * Key under which a decoded object has the names of its empty lists and maps, by top-level field. Go distinguishes them
 * from nil until the object is stored. Upstream counts such a change as a new generation (NetworkPolicy, webhook
 * configurations) and compares so in rules for immutable data (ConfigMap, Secret, StorageClass).
 *
 * It is a symbol of the object and no separate value, because admission, defaults and the preparation of an update all
 * make copies of the object before the rules read it. Spreading copies the symbol, and JSON never shows it. A step that
 * builds a new object loses it, and `copyEmptied` restores it after the conversion to the stored version.
 */
export const EMPTIED = Symbol('emptied');

interface Sent {
  readonly [EMPTIED]?: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The names of the empty lists and maps in this field of the object, its own among them, as far as they were sent. */
export function getEmptiedFields(object: object, field: string): ReadonlySet<string> {
  return (object as Sent)[EMPTIED]?.get(field) ?? NONE;
}

/** `object`, which was made from `sent`, with what is known of that. */
export function copyEmptied<T extends object>(sent: object, object: T): T {
  const emptied = (sent as Sent)[EMPTIED];
  return emptied === undefined || (object as Sent)[EMPTIED] === emptied
    ? object
    : { ...object, [EMPTIED]: emptied };
}

const NONE: ReadonlySet<string> = new Set();
