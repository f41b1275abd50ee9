import type { Backend, Guard } from '../../backend';

/** A store that runs outside of this process, so that an operator can replace or restore it while this process runs. */
export interface ReplaceableStore extends Backend {
  /** Number of detected replacements. Incremented in the same step as the detection. */
  readonly resets: number;

  /**
   * Makes all later writes and watch streams conditional on this record being unchanged; otherwise they throw a StorageError `reset`.
   * Undefined removes the condition.
   */
  presume(record: Guard | undefined): void;
}
