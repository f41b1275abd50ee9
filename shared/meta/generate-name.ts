/** Without vowels, 0, 1 and 3, so that no word comes out; upstream's own alphabet. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** A generated name stays a DNS label of at most 63 characters. */
const BASE_LENGTH_MAX = 63 - SUFFIX_LENGTH;

/** A whole number from 0 up to, and without, `bound`: `crypto.randomInt` in the server. */
export type RandomInt = (bound: number) => number;

/** `base`, cut to 58 characters, with five random characters appended. Uniqueness is the caller's to check. */
export function generateName(base: string, randomInt: RandomInt): string {
  let suffix = '';
  for (let count = 0; count < SUFFIX_LENGTH; count += 1)
    suffix += ALPHABET.charAt(randomInt(ALPHABET.length));
  return base.slice(0, BASE_LENGTH_MAX) + suffix;
}
