import { StorageError } from '../backend';
import type { ResponseHeader } from './proto';

/**
 * Which cluster answered so far, and up to which revision. A linearizable answer can never be older than one that came before the
 * question, so an older one, or another cluster's, means that the store was replaced or restored.
 */
export class StoreIdentity {
  #clusterId: string | undefined;
  #newest = 0;

  /** The newest revision seen; take it before asking. */
  get revision(): number {
    return this.#newest;
  }

  /** Takes note of a write's answer. */
  note(header: ResponseHeader): void {
    if (header.clusterId === this.#clusterId || this.#clusterId === undefined) {
      this.#clusterId = header.clusterId;
      if (header.revision > this.#newest) this.#newest = header.revision;
    }
  }

  /**
   * Checks a linearizable answer against what was known before the question. Throws a StorageError `reset` once per change: the new
   * store is what later answers are compared with.
   */
  check(header: ResponseHeader, seenBefore: number): void {
    const isOther = this.#clusterId !== undefined && header.clusterId !== this.#clusterId;
    if (!isOther && header.revision >= seenBefore) {
      this.note(header);
      return;
    }
    const before = this.#newest;
    this.#clusterId = header.clusterId;
    this.#newest = header.revision;
    throw new StorageError(
      'reset',
      isOther
        ? 'The etcd cluster behind the endpoints is another one than before.'
        : `etcd went back from revision ${String(before)} to ${String(header.revision)}: it was restored from a backup.`,
    );
  }
}
