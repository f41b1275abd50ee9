import type { StorageError } from '../../backend';
import { RecordIndex } from './record-index';
import { Tail } from './tail';

/** An empty store is at revision 1, as an empty etcd is: the first write takes 2. */
export const FIRST_REVISION = 1;

/** What the parts of one opened store share. Everything here is already safe on disk. */
export class StoreState {
  /** The newest revision. */
  revision = FIRST_REVISION;
  /** The oldest revision that can be read. */
  compactRevision = FIRST_REVISION;
  /** Log rows from here on are all there; below it only those of current records are. Never above `compactRevision`, save at first. */
  prunedTo = FIRST_REVISION + 1;
  readonly index = new RecordIndex();
  readonly tail = new Tail();
  isClosed = false;
  /** The reason why writes are no longer accepted. */
  failure: StorageError | undefined;
  readonly #waiting = new Set<() => void>();

  /** Wakes all waiting watches. */
  announce(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Resolves at the next announcement, or when the signal aborts. */
  async news(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.isClosed) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}
