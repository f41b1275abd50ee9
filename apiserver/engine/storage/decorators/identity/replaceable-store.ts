import type { Backend, Guard } from '../../backend';

/** A store that runs on its own, so that somebody can put another one in its place while this process runs. */
export interface ReplaceableStore extends Backend {
  /** How often it turned out to be another or an older one. Grows in the very step in which that is noticed. */
  readonly resets: number;

  /**
   * From now on nothing is written unless this record stands as it was read, and no stream of a watch begins: a StorageError `reset`
   * is thrown instead. Undefined presumes nothing.
   */
  presume(record: Guard | undefined): void;
}
