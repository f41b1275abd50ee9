import { cloneJson, isJsonObject } from '../../shared/object/clone';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** Upstream's alphabet of generated names: no vowels, so that a hash is no word. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * Hashes a template and the number of collisions that its owner had, for the names of what is made of the template. As upstream, it is
 * FNV-1a of 32 bits in a safe alphabet; the hashed bytes are the template as canonical JSON and not Go's dump of a struct, so that the
 * value is another one.
 */
export function templateHash(template: object, collisionCount: number | undefined): string {
  const salt = collisionCount === undefined ? '' : String(collisionCount);
  let hash = FNV_OFFSET;
  for (const byte of Buffer.from(canonicalJson(template) + salt)) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return String(hash >>> 0).replaceAll(/\d/gu, (digit) =>
    ALPHABET.charAt(digit.charCodeAt(0) % ALPHABET.length),
  );
}

/** JSON with sorted keys: the order in which a client wrote the fields has no meaning. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sortedKeys(cloneJson(value)), (_key, each: unknown) =>
    typeof each === 'bigint' ? String(each) : each,
  );
}

/** Returns a copy of the value whose objects have their keys in order, as Go encodes maps. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortedKeys(value[key])]),
  );
}
