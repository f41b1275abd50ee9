/** One invalid variant of the valid object: a description, a merge patch that makes it invalid, and the expected causes (`Reason field`). */
export type InvalidCase = readonly [title: string, patch: object, causes: readonly string[]];

/** The objects by which `kind-cases.test.ts` checks the validation rules of one kind. */
export interface KindCases {
  /** The title of the tests: the kind, and its version where that matters. */
  readonly kind: string;
  readonly url: string;
  /** A valid object. It needs no name: each request gets its own, unless the kind has rules for its names. */
  readonly good: object;
  /** Creations that are refused with 422. */
  readonly bad?: readonly InvalidCase[];
  /** Updates of the valid object that are refused with 422. */
  readonly badChanges?: readonly InvalidCase[];
  /** Updates of the valid object that are accepted. */
  readonly goodChanges?: readonly (readonly [title: string, patch: object])[];
}
