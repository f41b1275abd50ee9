/** Upstream's alphabet, without vowels, 0, 1 and 3, so that suffixes are no words. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** A generated name stays a DNS label of at most 63 characters. */
const BASE_LENGTH_MAX = 63 - SUFFIX_LENGTH;

/** Returns an integer in [0, bound): `crypto.randomInt` in the server. */
export type RandomInt = (bound: number) => number;

/** Appends five random characters to `base`, truncated to 58 characters. The caller checks uniqueness. */
export function generateName(base: string, randomInt: RandomInt): string {
  let suffix = '';
  for (let count = 0; count < SUFFIX_LENGTH; count += 1)
    suffix += ALPHABET.charAt(randomInt(ALPHABET.length));
  return base.slice(0, BASE_LENGTH_MAX) + suffix;
}
