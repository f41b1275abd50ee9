import type { Mutator } from './mutators/mutator';

/**
 * Tries one input on a decoder, and everything that must hold of what comes out. Throws when something does not hold: whatever is thrown is
 * a finding, so that refusals the decoder is allowed have to be caught (`refusable`).
 */
export type Check = (input: Buffer) => void | Promise<void>;

/** A decoder, what is known about its input, and what must hold. A row of `targets.ts`. */
export interface Target {
  readonly name: string;
  /** The folder in `corpus/` whose files are its first inputs. Several targets may share one. */
  readonly corpus: string;
  /** Further first inputs, made by the program: certificates, tokens, objects of every kind. */
  readonly made?: () => Promise<readonly Buffer[]> | readonly Buffer[];
  /** Words of its language, which mutators put in. */
  readonly words: readonly string[];
  /** Each as likely as the others. */
  readonly mutators: readonly Mutator[];
  /** How many mutated inputs one run of the tests tries; a longer run tries as many as its time allows. */
  readonly runs: number;
  /** Makes the check, with whatever it needs for its life. */
  readonly open: () => Promise<OpenTarget> | OpenTarget;
}

export interface OpenTarget {
  readonly check: Check;
  readonly close?: () => Promise<void>;
}
