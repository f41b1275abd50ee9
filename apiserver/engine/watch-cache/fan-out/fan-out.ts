import type { CachedResource, Entry } from '../state/entry';
import type { CacheEvent } from '../state/event';
import type { Watcher } from './watcher';
import { indexedTerm } from './watch-request';

/**
 * The live watchers of one resource, each in exactly one bucket: by object, by name, by the value of an indexed field, by namespace, or the
 * bucket of watchers of everything. An event is offered only to the buckets that can match, once each.
 */
export class FanOut {
  readonly #resource: CachedResource;
  readonly #buckets = new Map<string, Set<Watcher>>();
  #size = 0;
  /** The number of buckets of each kind; lookups of unused kinds are skipped. */
  readonly #kinds = new Map<string, number>();

  constructor(resource: CachedResource) {
    this.#resource = resource;
  }

  add(watcher: Watcher): void {
    const { kind, id } = this.#bucketOf(watcher);
    let bucket = this.#buckets.get(id);
    if (bucket === undefined) {
      bucket = new Set();
      this.#buckets.set(id, bucket);
      this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    }
    if (bucket.has(watcher)) return;
    bucket.add(watcher);
    this.#size += 1;
  }

  remove(watcher: Watcher): void {
    const { kind, id } = this.#bucketOf(watcher);
    const bucket = this.#buckets.get(id);
    if (bucket === undefined || !bucket.delete(watcher)) return;
    this.#size -= 1;
    if (bucket.size > 0) return;
    this.#buckets.delete(id);
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 1) - 1);
  }

  /** Offers the event to every watcher that it can match. */
  dispatch(event: CacheEvent): void {
    if (this.#size === 0) return;
    const { subject, current, previous } = event;
    this.#offer(ALL, event);
    if (this.#uses(KIND.namespace)) this.#offer(idOf(KIND.namespace, subject.namespace), event);
    if (this.#uses(KIND.object)) this.#offer(idOf(KIND.object, objectId(subject)), event);
    if (this.#uses(KIND.name)) this.#offer(idOf(KIND.name, subject.name), event);
    for (const path of this.#resource.indexedFields) {
      const kind = fieldKind(path);
      if (!this.#uses(kind)) continue;
      const now = current?.fields[path];
      const before = previous?.fields[path];
      if (now !== undefined) this.#offer(idOf(kind, now), event);
      if (before !== undefined && before !== now) this.#offer(idOf(kind, before), event);
    }
  }

  #uses(kind: string): boolean {
    return (this.#kinds.get(kind) ?? 0) > 0;
  }

  #offer(id: string, event: CacheEvent): void {
    for (const watcher of this.#buckets.get(id) ?? NO_WATCHERS) watcher.offer(event);
  }

  #bucketOf(watcher: Watcher): { readonly kind: string; readonly id: string } {
    const { request } = watcher;
    const { namespace, name } = request;
    if (name !== '' && (namespace !== '' || !this.#resource.namespaced)) {
      return { kind: KIND.object, id: idOf(KIND.object, objectId({ namespace, name })) };
    }
    if (name !== '') return { kind: KIND.name, id: idOf(KIND.name, name) };
    const term = indexedTerm(request, this.#resource);
    if (term !== undefined) return { kind: fieldKind(term[0]), id: idOf(fieldKind(term[0]), term[1]) };
    if (namespace !== '') return { kind: KIND.namespace, id: idOf(KIND.namespace, namespace) };
    return { kind: KIND.all, id: ALL };
  }
}

const KIND = { all: 'all', namespace: 'namespace', object: 'object', name: 'name' } as const;
const ALL = idOf(KIND.all, '');
const NO_WATCHERS: readonly Watcher[] = [];

function fieldKind(path: string): string {
  return `field:${path}`;
}

function idOf(kind: string, value: string): string {
  return `${kind}\0${value}`;
}

function objectId({ namespace, name }: Pick<Entry, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}
