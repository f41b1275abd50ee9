import type {
  Backend,
  CreateOptions,
  DeleteOutcome,
  Guard,
  ListOptions,
  ListResult,
  Revision,
  StoredRecord,
  StoreEvent,
  WatchOptions,
  UpdateOptions,
  WriteOptions,
  WriteOutcome,
} from '../backend';
import { StorageError } from '../backend';
import { TIMER_MAX_MS } from '../../../../shared/concurrency/timer-max';
import { compareKeys } from '../../../../shared/meta/key-order';

type Change = StoreEvent & { readonly previous?: StoredRecord };

/** Revisions handed to a watch in one batch at most. */
const BATCH_REVISIONS_MAX = 100;

const SECOND_MS = 1_000;

/**
 * A Backend in memory, for tests: it keeps every promise of a backend but to outlive its process, shows its complete history, and has
 * switches for the faults that a real store shows.
 */
export class MemoryBackend implements Backend {
  /** While set, every call fails with it and running watches throw it. */
  outage: StorageError | undefined;
  /** Runs before each page of a list is read. */
  beforeList: ((prefix: string, options: ListOptions) => Promise<void>) | undefined;
  /** Revisions that watches leave out, as a lossy client would. */
  readonly lostRevisions = new Set<number>();
  readonly calls = { list: 0, currentRevision: 0, watch: 0 };
  readonly watches: WatchOptions[] = [];
  /** What served keys begin with; a watch of the whole keyspace leaves the events of others out. */
  readonly #prefix: string;
  /** `#history[i]` is revision i + 1. */
  readonly #history: (readonly Change[])[] = [];
  readonly #records = new Map<string, StoredRecord>();
  #sortedKeys: string[] | undefined;
  #compacted = 0;
  readonly #wake = new Set<() => void>();
  /** Of the records that the store will delete by itself, by key. */
  readonly #expiries = new Map<string, NodeJS.Timeout>();
  #isClosed = false;

  /** `prefix` is the root of the served keys, without a slash at the end. */
  constructor(prefix = '/registry') {
    this.#prefix = `${prefix}/`;
  }

  get revision(): number {
    return this.#history.length;
  }

  async get(
    key: string,
    signal: AbortSignal,
  ): Promise<{ record: StoredRecord | undefined; revision: number }> {
    this.#check(signal);
    return { record: this.#records.get(key), revision: this.revision };
  }

  async list(prefix: string, options: ListOptions, signal: AbortSignal): Promise<ListResult> {
    this.calls.list += 1;
    await this.beforeList?.(prefix, options);
    this.#check(signal);
    const revision = options.revision ?? this.revision;
    if (revision > this.revision) throw new StorageError('future', `${revision} is not there yet`);
    if (revision < this.#compacted) throw this.#compactedError(revision);
    const { after, limit = Infinity } = options;
    const keys = this.#keysAt(revision);
    const first = lowerBound(keys, (key) => compareKeys(key, prefix) >= 0);
    const end = lowerBound(keys, (key) => !key.startsWith(prefix) && compareKeys(key, prefix) > 0);
    const next = after === undefined ? first : lowerBound(keys, (key) => compareKeys(key, after) > 0);
    const start = Math.min(Math.max(first, next), end);
    const records = keys
      .slice(start, Math.min(end, start + limit))
      .map((key) => this.#recordAt(key, revision))
      .filter((record) => record !== undefined)
      .map((record) => (options.keysOnly === true ? { ...record, value: Buffer.alloc(0) } : record));
    return { records, revision, remaining: end - start - records.length };
  }

  async create(
    key: string,
    value: Buffer,
    options: CreateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    this.#check(signal);
    const current = this.#records.get(key);
    if (current !== undefined || !this.#stand(options.guards)) {
      return { ok: false, current, revision: this.revision };
    }
    return this.#write(key, value, options);
  }

  async update(
    key: string,
    value: Buffer,
    options: UpdateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    this.#check(signal);
    const current = this.#records.get(key);
    if (current?.revision !== options.expected || !this.#stand(options.guards)) {
      return { ok: false, current, revision: this.revision };
    }
    return this.#write(key, value, options);
  }

  async delete(key: string, expected: number, signal: AbortSignal): Promise<DeleteOutcome> {
    this.#check(signal);
    const current = this.#records.get(key);
    if (current?.revision !== expected) return { ok: false, current, revision: this.revision };
    return { ok: true, revision: this.remove(key), deleted: current };
  }

  async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<readonly Revision[]> {
    this.calls.watch += 1;
    this.watches.push(options);
    this.#check();
    for (let next = options.from; ;) {
      if (signal.aborted || this.#isClosed) return;
      this.#check();
      if (next < this.#compacted) throw this.#compactedError(next);
      const batch: Revision[] = [];
      for (; next <= this.revision && batch.length < BATCH_REVISIONS_MAX; next += 1) {
        const revision = this.#revisionFor(next, options);
        if (revision !== undefined) batch.push(revision);
      }
      if (batch.length > 0) yield batch;
      else if (next > this.revision) await this.#change(signal);
    }
  }

  async currentRevision(signal: AbortSignal): Promise<number> {
    this.calls.currentRevision += 1;
    const { revision } = this;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    this.#check(signal);
    return revision;
  }

  async compact(revision: number, signal: AbortSignal): Promise<void> {
    this.#check(signal);
    this.#compacted = Math.max(this.#compacted, Math.min(revision, this.revision));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const expiry of this.#expiries.values()) clearTimeout(expiry);
    this.#expiries.clear();
    this.#wakeAll();
  }

  /** Every call fails with `error` until it is cleared with undefined; running watches throw it. */
  fail(error: StorageError | undefined): void {
    this.outage = error;
    this.#wakeAll();
  }

  /** Writes without a compare. */
  put(key: string, value: Buffer): number {
    return this.transact([{ key, value }]);
  }

  remove(key: string): number {
    return this.transact([{ key }]);
  }

  /** Several changes at one revision, as when a lease expires; a change without a value is a deletion of what must be there. */
  transact(changes: readonly { readonly key: string; readonly value?: Buffer }[]): number {
    const revision = this.revision + 1;
    const events = changes.map(({ key, value }): Change => {
      clearTimeout(this.#expiries.get(key));
      this.#expiries.delete(key);
      const previous = this.#records.get(key);
      const before = previous === undefined ? {} : { previous };
      if (previous === undefined || value === undefined) this.#sortedKeys = undefined;
      if (value === undefined) {
        if (!this.#records.delete(key)) throw new Error(`there is no ${key} to delete`);
        return { type: 'delete', key, ...before };
      }
      this.#records.set(key, { key, value, revision });
      return { type: 'put', key, value, created: previous === undefined, ...before };
    });
    this.#history.push(events);
    this.#wakeAll();
    return revision;
  }

  #check(signal?: AbortSignal): void {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new StorageError('closed', 'the store is closed');
    if (this.outage !== undefined) throw this.outage;
  }

  #stand(guards: readonly Guard[] = []): boolean {
    return guards.every(({ key, revision }) => this.#records.get(key)?.revision === revision);
  }

  #write(key: string, value: Buffer, { ttlSeconds }: WriteOptions): WriteOutcome {
    const revision = this.put(key, value);
    if (ttlSeconds !== undefined) {
      const ms = Math.min(ttlSeconds * SECOND_MS, TIMER_MAX_MS);
      this.#expiries.set(key, setTimeout(() => this.remove(key), ms).unref());
    }
    return { ok: true, revision };
  }

  #compactedError(revision: number): StorageError {
    return new StorageError('compacted', `${revision} is compacted`, { compactRevision: this.#compacted });
  }

  #keysAt(revision: number): string[] {
    if (revision === this.revision) {
      this.#sortedKeys ??= [...this.#records.keys()].sort(compareKeys);
      return this.#sortedKeys;
    }
    const keys = new Set(this.#history.flatMap((events) => events.map(({ key }) => key)));
    return [...keys].filter((key) => this.#recordAt(key, revision) !== undefined).sort(compareKeys);
  }

  #recordAt(key: string, revision: number): StoredRecord | undefined {
    const current = this.#records.get(key);
    if (current !== undefined && current.revision <= revision) return current;
    for (let at = revision; at >= 1; at -= 1) {
      const event = this.#history[at - 1]?.find((candidate) => candidate.key === key);
      if (event === undefined) continue;
      return event.type === 'put' ? { key, value: event.value, revision: at } : undefined;
    }
    return undefined;
  }

  #revisionFor(revision: number, { prefix, withPrevious }: WatchOptions): Revision | undefined {
    if (this.lostRevisions.has(revision)) return undefined;
    const all = this.#history[revision - 1] ?? [];
    const own = all.filter(({ key }) => key.startsWith(prefix ?? this.#prefix));
    if (prefix !== undefined && own.length === 0) return undefined;
    if (withPrevious === true) return { revision, events: own };
    return { revision, events: own.map(({ previous: _previous, ...event }) => event) };
  }

  async #change(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#wake.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#wake.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  #wakeAll(): void {
    for (const wake of this.#wake) wake();
  }
}

/** The index of the first key for which `isBehind` holds; it must hold for all later ones too. */
function lowerBound(keys: readonly string[], isBehind: (key: string) => boolean): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBehind(keys[middle] ?? '')) high = middle;
    else low = middle + 1;
  }
  return low;
}
