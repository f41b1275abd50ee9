import { StorageError } from '../../backend';
import type { ResponseHeader } from './proto';

/**
 * Which cluster answered so far, and up to which revision. A linearizable answer can never be older than one that came before the
 * question, so an older one, or another cluster's, means that the store was replaced or restored.
 */
export class ClusterIdentity {
  #clusterId: string | undefined;
  #newest = 0;
  #resets = 0;

  /** How often the store turned out to be another or an older one. */
  get resets(): number {
    return this.#resets;
  }

  /** The newest revision seen; take it before asking. */
  get revision(): number {
    return this.#newest;
  }

  /** The store is another one, as something else than its answers' heads shows. Returns what to throw. */
  lost(message: string): StorageError {
    this.#resets += 1;
    return new StorageError('reset', message);
  }

  /** Whether a linearizable answer comes from another or an older store than was known before the question. */
  contradicts(header: ResponseHeader, seenBefore: number): boolean {
    return this.#isOther(header) || header.revision < seenBefore;
  }

  /** Takes note of a header that may come from a member that lags. */
  note(header: ResponseHeader): void {
    if (this.#isOther(header)) return;
    this.#clusterId = header.clusterId;
    if (header.revision > this.#newest) this.#newest = header.revision;
  }

  /**
   * Checks a linearizable answer against what was known before the question. Throws a StorageError `reset` once per change: the new
   * store is what later answers are compared with.
   */
  check(header: ResponseHeader, seenBefore: number): void {
    if (!this.contradicts(header, seenBefore)) {
      this.note(header);
      return;
    }
    const isOther = this.#isOther(header);
    const before = this.#newest;
    this.#clusterId = header.clusterId;
    this.#newest = header.revision;
    throw this.lost(
      isOther
        ? 'The etcd cluster behind the endpoints is another one than before.'
        : `etcd went back from revision ${String(before)} to ${String(header.revision)}: it was restored from a backup.`,
    );
  }

  #isOther({ clusterId }: ResponseHeader): boolean {
    return this.#clusterId !== undefined && clusterId !== this.#clusterId;
  }
}
