import { performance } from 'node:perf_hooks';
import { DurationHistogram } from '../../shared/metrics/duration-histogram';
import type { Backend } from './backend';

/** kube-apiserver's bounds in seconds. */
const BOUNDS_SECONDS: readonly number[] = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 15, 30, 60];
/** Resources are named by definitions, so their number is bounded; what comes later is counted together. */
const SERIES_MAX = 2_000;
const OTHER = 'other';

export interface StoreTime {
  /** `operation`, and the `type` of the object: `pods`, `deployments.apps`. */
  readonly labels: { readonly operation: string; readonly type: string };
  readonly took: DurationHistogram;
}

/** How long the store took to answer, by operation and resource. */
export class StoreTimes {
  readonly #series = new Map<string, StoreTime>();
  readonly #prefix: string;

  /** `prefix` is the root of all keys: `/registry`. */
  constructor(prefix: string) {
    this.#prefix = `${prefix}/`;
  }

  series(): Iterable<StoreTime> {
    return this.#series.values();
  }

  /** `key` is that of one object, or what those of a list begin with. */
  observe(operation: string, key: string, ms: number): void {
    const [group = '', resource = ''] = key.startsWith(this.#prefix)
      ? key.slice(this.#prefix.length).split('/', 2)
      : [];
    const type = resource === '' ? OTHER : group === 'core' ? resource : `${resource}.${group}`;
    const id = `${operation} ${type}`;
    const known = this.#series.get(id);
    if (known !== undefined) known.took.observe(ms);
    else if (this.#series.size < SERIES_MAX) {
      const made = { labels: { operation, type }, took: new DurationHistogram(BOUNDS_SECONDS) };
      made.took.observe(ms);
      this.#series.set(id, made);
    }
  }
}

/** The same store, with its answers timed; those that are errors, too. */
export function measuredBackend(backend: Backend, times: StoreTimes): Backend {
  const timed = async <T>(operation: string, key: string, run: () => Promise<T>): Promise<T> => {
    const beganMs = performance.now();
    try {
      return await run();
    } finally {
      times.observe(operation, key, performance.now() - beganMs);
    }
  };
  return {
    get: async (key, signal) => timed('get', key, async () => backend.get(key, signal)),
    list: async (prefix, options, signal) =>
      timed('list', prefix, async () => backend.list(prefix, options, signal)),
    create: async (key, value, options, signal) =>
      timed('create', key, async () => backend.create(key, value, options, signal)),
    update: async (key, value, options, signal) =>
      timed('update', key, async () => backend.update(key, value, options, signal)),
    delete: async (key, expected, signal) =>
      timed('delete', key, async () => backend.delete(key, expected, signal)),
    watch: (options, signal) => backend.watch(options, signal),
    currentRevision: async (signal) => backend.currentRevision(signal),
    compact: async (revision, signal) => backend.compact(revision, signal),
    close: async () => backend.close(),
  };
}
