import { stringifyExact } from '../object/exact-text';

/** Fields that come first in the JSON of every object, in this order. */
const ENVELOPE = ['kind', 'apiVersion', 'metadata'] as const;

/**
 * Writes an object as JSON that begins with `{"kind":…,"apiVersion":…,"metadata":{`, as far as it has these
 * fields. Other fields keep their order. Bigints are written as exact integers.
 */
export function encodeObject(object: object): Buffer {
  return Buffer.from(stringify(toEnvelopeOrder(object)));
}

function toEnvelopeOrder(object: object): object {
  let last = -1;
  let hasOther = false;
  let position = 0;
  for (const key in object) {
    const rank = ENVELOPE.indexOf(key as (typeof ENVELOPE)[number]);
    if (rank >= 0 && (hasOther || rank < last)) return reorder(object);
    // The whole envelope is in order, so the order of the other fields does not matter.
    if (rank === position && position === ENVELOPE.length - 1) return object;
    if (rank >= 0) last = rank;
    else hasOther = true;
    position += 1;
  }
  return object;
}

function reorder(object: object): object {
  const envelope = Object.fromEntries(
    ENVELOPE.filter((key) => Object.hasOwn(object, key)).map((key) => [
      key,
      (object as Record<string, unknown>)[key],
    ]),
  );
  // Spreading copies own fields, `__proto__` included. A second assignment keeps the position of the first.
  return { ...envelope, ...object };
}

function stringify(object: object): string {
  try {
    return JSON.stringify(object);
  } catch (error) {
    if (error instanceof TypeError && /BigInt/.test(error.message)) return stringifyExact(object);
    throw error;
  }
}
