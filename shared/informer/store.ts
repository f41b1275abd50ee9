import type { ApiObject, ObjectMeta } from '../object/object';

/** Values under which an object is found: `namespace`, owner uids, a node's name. */
export type Indexer<T extends ApiObject> = (object: T) => readonly string[];
export type Indexers<T extends ApiObject> = Readonly<Record<string, Indexer<T>>>;

/** The current objects of an informer. Objects are shared: never change one. */
export interface Store<T extends ApiObject> {
  /** By `namespace/name`, or `name` of a cluster-scoped object. */
  get(key: string): T | undefined;
  /** All objects. */
  list(): readonly T[];
  /** The keys of all objects. */
  keys(): readonly string[];
  /** Objects that the named indexer puts under this value. Throws RangeError if there is no such indexer. */
  byIndex(index: string, value: string): readonly T[];
  readonly size: number;
}

/** `namespace/name`, or `name` of a cluster-scoped object. */
export function keyOfObject({ metadata }: { readonly metadata: ObjectMeta }): string {
  const { namespace = '', name = '' } = metadata;
  return namespace === '' ? name : `${namespace}/${name}`;
}

export interface WritableStore<T extends ApiObject> extends Store<T> {
  /** Returns what was there before. */
  set(object: T): T | undefined;
  delete(key: string): T | undefined;
}

/** The store is a mirror: its bound is that of the server's collection. */
export function createStore<T extends ApiObject>(indexers: Indexers<T> = {}): WritableStore<T> {
  const objects = new Map<string, T>();
  const indexes = new Map(Object.keys(indexers).map((name) => [name, new Map<string, Set<string>>()]));

  const unindex = (key: string, object: T): void => {
    for (const [name, index] of indexes) {
      for (const value of indexers[name]?.(object) ?? []) {
        const keys = index.get(value);
        keys?.delete(key);
        if (keys?.size === 0) index.delete(value);
      }
    }
  };
  const enter = (key: string, object: T): void => {
    for (const [name, index] of indexes) {
      for (const value of indexers[name]?.(object) ?? []) {
        const keys = index.get(value);
        if (keys === undefined) index.set(value, new Set([key]));
        else keys.add(key);
      }
    }
  };

  return {
    get: (key) => objects.get(key),
    list: () => [...objects.values()],
    keys: () => [...objects.keys()],
    byIndex: (name, value) => {
      const index = indexes.get(name);
      if (index === undefined) throw new RangeError(`there is no indexer named ${JSON.stringify(name)}`);
      const keys = index.get(value);
      return keys === undefined ? [] : [...keys].flatMap((key) => objects.get(key) ?? []);
    },
    get size() {
      return objects.size;
    },
    set: (object) => {
      const key = keyOfObject(object);
      const before = objects.get(key);
      if (before !== undefined) unindex(key, before);
      objects.set(key, object);
      enter(key, object);
      return before;
    },
    delete: (key) => {
      const before = objects.get(key);
      if (before === undefined) return undefined;
      unindex(key, before);
      objects.delete(key);
      return before;
    },
  };
}
