import type { Random } from '../../../../shared/testing/random';

export interface Material {
  readonly random: Random;
  readonly words: readonly string[];
  /** Another input of the corpus. */
  readonly other: Buffer;
}

/** Makes another input of one; the given one is left as it is. What does not fit the mutator comes back changed in some simpler way. */
export type Mutator = (input: Buffer, material: Material) => Buffer;

/** No mutated input is longer: length is the concern of `growth.ts`. */
export const INPUT_BYTES_MAX = 32 * 1024;
