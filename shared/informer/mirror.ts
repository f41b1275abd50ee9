import type { Log } from '../log/log';
import type { ApiObject } from '../object/object';
import type { Indexers, WritableStore } from './store';
import { createStore, keyOfObject } from './store';

/** Called synchronously, in order. Must not throw or take long: put a key into a work queue. */
export interface Handler<T extends ApiObject> {
  readonly onAdd?: (object: T) => void;
  readonly onUpdate?: (before: T, after: T) => void;
  /** `isStale`: the deletion itself was missed, `last` is the last known state and may lack later changes. */
  readonly onDelete?: (last: T, details: { readonly isStale: boolean }) => void;
}

/** A store that notifies its handlers of changes. An object replaced by another of the same name is delivered as a delete and an add. */
export class Mirror<T extends ApiObject> {
  readonly store: WritableStore<T>;
  readonly #handlers = new Set<Handler<T>>();
  readonly #log: Log;

  constructor(indexers: Indexers<T>, log: Log) {
    this.store = createStore(indexers);
    this.#log = log;
  }

  addHandler(handler: Handler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.store.list()) this.#call(() => handler.onAdd?.(object));
    return () => this.#handlers.delete(handler);
  }

  put(object: T): void {
    const before = this.store.get(keyOfObject(object));
    if (before !== undefined && before.metadata.uid !== object.metadata.uid) this.#drop(before, true);
    const previous = this.store.set(object);
    this.#tell((handler) => {
      if (previous === undefined) handler.onAdd?.(object);
      else handler.onUpdate?.(previous, object);
    });
  }

  remove(last: T): void {
    const before = this.store.get(keyOfObject(last));
    if (before === undefined) return;
    if (before.metadata.uid === last.metadata.uid) this.#drop(last, false);
    else this.#drop(before, true);
  }

  /** Takes over a whole list: tells only the differences. */
  replace(objects: readonly T[]): void {
    const present = new Set(objects.map(keyOfObject));
    for (const key of this.store.keys()) {
      const gone = present.has(key) ? undefined : this.store.get(key);
      if (gone !== undefined) this.#drop(gone, true);
    }
    for (const object of objects) {
      const before = this.store.get(keyOfObject(object));
      const { uid, resourceVersion } = object.metadata;
      if (before?.metadata.uid === uid && before?.metadata.resourceVersion === resourceVersion) continue;
      this.put(object);
    }
  }

  #drop(last: T, isStale: boolean): void {
    this.store.delete(keyOfObject(last));
    this.#tell((handler) => handler.onDelete?.(last, { isStale }));
  }

  #tell(act: (handler: Handler<T>) => void): void {
    for (const handler of this.#handlers) this.#call(() => act(handler));
  }

  /** A handler's defect must not stop the others, nor the mirror. */
  #call(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#log.error({ error }, 'event handler threw');
    }
  }
}
