import type { Clock } from '../../shared/concurrency/clock';
import type { WorkQueue } from '../../shared/concurrency/work-queue';
import type { Store } from '../../shared/informer/store';
import { keyOfObject } from '../../shared/informer/store';
import type { ApiObject } from '../../shared/object/object';
import { isBeingDeleted } from '../runtime/owner';

/** As upstream: an expectation that was not met by then is dropped, since the object was lost in some other way. */
const EXPIRES_AFTER_MS = 300_000;
/** Uids of deleted objects that are remembered, for creations whose response comes after the object is gone. */
const DELETED_MAX = 10_000;

interface Expected {
  readonly objectKey: string;
  readonly isDeletion: boolean;
  readonly sinceMs: number;
}

interface ExpectationParts<T extends ApiObject> {
  /** The store of the children's informer. */
  readonly store: Store<T>;
  readonly clock: Clock;
  /** The queue of the parents' keys. */
  readonly queue: Pick<WorkQueue, 'addAfter'>;
}

/**
 * What the informer of the children has yet to show of a parent's own writes. A parent acts again only once it sees its last writes;
 * otherwise it would count a child that it created as missing and create another one. Upstream counts events; this looks for the objects
 * themselves, by uid. Deletions are deletions of the object seen, or its deletion timestamp.
 */
export class Expectations<T extends ApiObject> {
  readonly #parts: ExpectationParts<T>;
  /** By the key of the parent and the uid of the child. */
  readonly #expected = new Map<string, Map<string, Expected>>();
  readonly #deleted = new Set<string>();

  constructor(parts: ExpectationParts<T>) {
    this.#parts = parts;
  }

  /** Notes that the parent of this key created the child. */
  created(key: string, child: T): void {
    const { uid = '' } = child.metadata;
    if (!this.#deleted.has(uid)) this.#expect(key, child, false);
  }

  /** Notes that the parent of this key deleted the child. */
  deletes(key: string, child: T): void {
    this.#expect(key, child, true);
  }

  /** Takes a deletion back that failed. */
  keeps(key: string, child: T): void {
    this.#expected.get(key)?.delete(child.metadata.uid ?? '');
  }

  /** To be called for every deletion that the informer shows. */
  noteDeleted({ metadata }: T): void {
    const { uid = '' } = metadata;
    this.#deleted.add(uid);
    const [oldest] = this.#deleted;
    if (this.#deleted.size > DELETED_MAX && oldest !== undefined) this.#deleted.delete(oldest);
  }

  /** Reports whether the informer shows all writes of the parent of this key. If not, the key is requeued after the time after which they expire. */
  areMet(key: string): boolean {
    const open = this.#expected.get(key);
    for (const [uid, expected] of open ?? []) if (!this.#isOpen(uid, expected)) open?.delete(uid);
    if (open !== undefined && open.size > 0) {
      this.#parts.queue.addAfter(key, EXPIRES_AFTER_MS);
      return false;
    }
    this.#expected.delete(key);
    return true;
  }

  /** Forgets a parent that is gone. */
  forget(key: string): void {
    this.#expected.delete(key);
  }

  #expect(key: string, child: T, isDeletion: boolean): void {
    const expected = this.#expected.get(key) ?? new Map<string, Expected>();
    this.#expected.set(key, expected);
    expected.set(child.metadata.uid ?? '', {
      objectKey: keyOfObject(child),
      isDeletion,
      sinceMs: this.#parts.clock.now(),
    });
  }

  #isOpen(uid: string, { objectKey, isDeletion, sinceMs }: Expected): boolean {
    const { store, clock } = this.#parts;
    if (clock.now() - sinceMs >= EXPIRES_AFTER_MS) return false;
    const seen = store.get(objectKey);
    const isThere = seen !== undefined && seen.metadata.uid === uid;
    if (isDeletion) return isThere && !isBeingDeleted(seen);
    return !isThere && !this.#deleted.has(uid);
  }
}
