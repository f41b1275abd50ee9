import { performance } from 'node:perf_hooks';
import { DurationHistogram } from '../../../shared/metrics/duration-histogram';
import type { Backend } from './backend';

/** kube-apiserver's bounds in seconds. */
const BOUNDS_SECONDS: readonly number[] = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 15, 30, 60];
/** Custom resource definitions add resources, so the number of series is bounded; further ones are counted together. */
const SERIES_MAX = 2_000;
const OTHER = 'other';

export interface StoreTime {
  /** `operation`, and the `type` of the object: `pods`, `deployments.apps`. */
  readonly labels: { readonly operation: string; readonly type: string };
  readonly took: DurationHistogram;
}

/** How long the store took to answer, by operation and resource. */
export class StoreTimes {
  readonly #series: StoreTime[] = [];
  /** The same by operation, and by group and resource as in keys: `core/pods`. */
  readonly #known = new Map<string, Map<string, StoreTime>>();
  readonly #prefix: string;

  /** `prefix` is the root of all keys: `/registry`. */
  constructor(prefix: string) {
    this.#prefix = `${prefix}/`;
  }

  series(): Iterable<StoreTime> {
    return this.#series;
  }

  /** `key` is the key of one object, or the prefix of a list. */
  observe(operation: string, key: string, ms: number): void {
    const place = this.#placeIn(key);
    const known = this.#known.get(operation)?.get(place) ?? this.#add(operation, place);
    known?.took.observe(ms);
  }

  /** Group and resource, `core/pods`; empty for the key of no object. */
  #placeIn(key: string): string {
    if (!key.startsWith(this.#prefix)) return '';
    const from = this.#prefix.length;
    const slash = key.indexOf('/', from);
    if (slash < 0) return '';
    const end = key.indexOf('/', slash + 1);
    const place = end < 0 ? key.slice(from) : key.slice(from, end);
    return place.endsWith('/') ? '' : place;
  }

  /** Undefined when there are too many. */
  #add(operation: string, place: string): StoreTime | undefined {
    if (this.#series.length >= SERIES_MAX) return undefined;
    const [group = '', resource = ''] = place.split('/');
    const type = place === '' ? OTHER : group === 'core' ? resource : `${resource}.${group}`;
    const made = { labels: { operation, type }, took: new DurationHistogram(BOUNDS_SECONDS) };
    const places = this.#known.get(operation) ?? new Map<string, StoreTime>();
    this.#known.set(operation, places.set(place, made));
    this.#series.push(made);
    return made;
  }
}

/** Wraps a store so that the time of each call is recorded, including failed calls. */
export function measuredBackend(backend: Backend, times: StoreTimes): Backend {
  // It takes the pending promise instead of a function, which saves a closure and two promises per call.
  const timed = async <T>(operation: string, key: string, beganMs: number, call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } finally {
      times.observe(operation, key, performance.now() - beganMs);
    }
  };
  return {
    get: (key, signal) => timed('get', key, performance.now(), backend.get(key, signal)),
    list: (prefix, options, signal) =>
      timed('list', prefix, performance.now(), backend.list(prefix, options, signal)),
    create: (key, value, options, signal) =>
      timed('create', key, performance.now(), backend.create(key, value, options, signal)),
    update: (key, value, options, signal) =>
      timed('update', key, performance.now(), backend.update(key, value, options, signal)),
    delete: (key, expected, signal) =>
      timed('delete', key, performance.now(), backend.delete(key, expected, signal)),
    watch: (options, signal) => backend.watch(options, signal),
    currentRevision: (signal) => backend.currentRevision(signal),
    compact: (revision, signal) => backend.compact(revision, signal),
    close: () => backend.close(),
  };
}
