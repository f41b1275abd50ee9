import { linkedAbort } from '../../shared/concurrency/linked-abort';
import type { Informer } from '../../shared/informer/informer';
import type { InformerOptions } from '../../shared/informer/informer';
import type { Store } from '../../shared/informer/store';
import { keyOfObject } from '../../shared/informer/store';
import type { ApiObject } from '../../shared/object/object';

/** Which objects an informer has, and how it keeps them. */
export interface InformerSelection extends Pick<
  InformerOptions<ApiObject, ApiObject>,
  'labelSelector' | 'fieldSelector' | 'log' | 'retry'
> {
  readonly signal?: AbortSignal | undefined;
}

/** One object as it is now, and what has happened to it since its last change was delivered. */
export interface Change<T extends ApiObject> {
  readonly type: 'added' | 'updated' | 'deleted';
  /** For `deleted`, the last known state. */
  readonly object: T;
}

/** The changes of a collection. It can be iterated once; leaving the iteration ends the informer. */
export interface InformerIteration<T extends ApiObject> extends AsyncIterable<Change<T>> {
  /** The objects as they are now. Objects are shared: never change one. */
  readonly store: Store<T>;
  /** Resolves once the first list is in the store; rejects when the informer ends before. The iteration must have begun. */
  readonly synced: Promise<void>;
}

/** Iterates the changes that an informer reports. The informer runs until the signal aborts or the iteration is left. */
export function iterateChanges<T extends ApiObject>(
  informer: Informer<T>,
  signal: AbortSignal = new AbortController().signal,
): InformerIteration<T> {
  const stop = linkedAbort(signal);
  const pending = new PendingChanges<T>();
  informer.addHandler({
    onAdd: (object) => pending.add(object),
    onUpdate: (_before, object) => pending.update(object),
    onDelete: (object) => pending.delete(object),
  });
  const synced = informer.whenSynced(stop.signal);
  synced.catch(() => undefined);
  async function* changes(): AsyncGenerator<Change<T>> {
    const running = informer.run(stop.signal);
    try {
      while (!stop.signal.aborted) {
        const change = pending.take();
        if (change === undefined) await pending.wait(stop.signal);
        else yield change;
      }
    } finally {
      stop.abort(new Error('the iteration has ended'));
      stop.unlink();
      await running;
    }
  }
  return { store: informer.store, synced, [Symbol.asyncIterator]: changes };
}

interface Pending<T> {
  /** What the reader has, if it has to hear that it is gone. */
  deleted: T | undefined;
  current: T | undefined;
  /** The reader does not have the object yet. */
  isNew: boolean;
}

/** The changes that the reader has not taken: at most one for each object, two for one that was replaced. */
class PendingChanges<T extends ApiObject> {
  /** In the order in which they became pending. */
  readonly #byKey = new Map<string, Pending<T>>();
  #wake: () => void = () => undefined;

  add(object: T): void {
    const known = this.#byKey.get(keyOfObject(object));
    if (known === undefined) this.#put(object, { deleted: undefined, current: object, isNew: true });
    else this.#put(object, { ...known, current: object, isNew: true });
  }

  update(object: T): void {
    const known = this.#byKey.get(keyOfObject(object));
    this.#put(object, { deleted: known?.deleted, current: object, isNew: known?.isNew ?? false });
  }

  delete(object: T): void {
    const key = keyOfObject(object);
    const known = this.#byKey.get(key);
    if (known?.isNew === true && known.deleted === undefined) this.#byKey.delete(key);
    else this.#put(object, { deleted: known?.deleted ?? object, current: undefined, isNew: false });
  }

  take(): Change<T> | undefined {
    const [first] = this.#byKey;
    if (first === undefined) return undefined;
    const [key, { deleted, current, isNew }] = first;
    if (deleted !== undefined) {
      if (current === undefined) this.#byKey.delete(key);
      else this.#byKey.set(key, { deleted: undefined, current, isNew });
      return { type: 'deleted', object: deleted };
    }
    this.#byKey.delete(key);
    return current && { type: isNew ? 'added' : 'updated', object: current };
  }

  /** Resolves when there is a change, or when the signal aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    if (this.#byKey.size > 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        resolve();
      };
      signal.addEventListener('abort', wake, { once: true });
      this.#wake = wake;
    });
  }

  #put(object: T, pending: Pending<T>): void {
    this.#byKey.set(keyOfObject(object), pending);
    this.#wake();
  }
}
