import { compareKeys } from '../../../../../shared/meta/key-order';
import type { Clock, Timers } from '../../../../../shared/concurrency/clock';
import { systemTimers } from '../../../../../shared/concurrency/clock';
import type {
  Backend,
  CreateOptions,
  DeleteOutcome,
  Guard,
  ListOptions,
  ListResult,
  Revision,
  StoredRecord,
  UpdateOptions,
  WatchOptions,
  WriteOptions,
  WriteOutcome,
} from '../../backend';
import { StorageError } from '../../backend';
import type { Change } from './memory-history';
import { MemoryHistory } from './memory-history';

/** Revisions handed to a watch in one batch at most. */
const BATCH_REVISIONS_MAX = 100;

const SECOND_MS = 1_000;

/** The whole content of a store in memory at one revision. The records are shared with the store and never change. */
export interface MemorySnapshot {
  readonly revision: number;
  readonly records: ReadonlyMap<string, StoredRecord>;
  /** When the store deletes records by itself, in milliseconds of its clock, by key. */
  readonly expiries: ReadonlyMap<string, number>;
}

export interface MemoryBackendOptions {
  /** The root of the served keys, without a slash at the end; `/registry` if absent. */
  readonly prefix?: string;
  /** The content to begin with; absent: nothing. */
  readonly from?: MemorySnapshot;
  /** Limit of revisions that watches and older reads can still use; absent: no limit. */
  readonly revisionsMax?: number;
  /** By which records expire. */
  readonly clock?: Clock & Timers;
}

/** A write of {@link MemoryBackend.transact}; a change without a value deletes a record that must exist. */
export interface MemoryWrite {
  readonly key: string;
  readonly value?: Buffer;
}

/**
 * A Backend in memory: it keeps every promise of a backend, except that its content ends with its process. For control planes in a test and for
 * tests of the project.
 */
export class MemoryBackend implements Backend {
  /** While set, every call fails with it and running watches throw it. */
  outage: StorageError | undefined;
  /** What served keys begin with; a watch of the whole keyspace leaves the events of others out. */
  readonly #prefix: string;
  readonly #clock: Clock & Timers;
  readonly #history: MemoryHistory;
  readonly #records: Map<string, StoredRecord>;
  #sortedKeys: readonly string[] | undefined;
  #compacted: number;
  readonly #wake = new Set<() => void>();
  /** Of the records that the store will delete by itself, by key. */
  readonly #expiries = new Map<string, { readonly dueMs: number; readonly cancel: () => void }>();
  #isClosed = false;

  constructor({ prefix = '/registry', from, revisionsMax, clock = systemTimers }: MemoryBackendOptions = {}) {
    this.#prefix = `${prefix}/`;
    this.#clock = clock;
    this.#history = new MemoryHistory(from?.revision ?? 0, revisionsMax);
    this.#records = new Map(from?.records);
    this.#compacted = from?.revision ?? 0;
    for (const [key, dueMs] of from?.expiries ?? []) this.#expireAt(key, dueMs);
  }

  get revision(): number {
    return this.#history.newest;
  }

  async get(
    key: string,
    signal: AbortSignal,
  ): Promise<{ record: StoredRecord | undefined; revision: number }> {
    this.#check(signal);
    return Promise.resolve({ record: this.#records.get(key), revision: this.revision });
  }

  async list(prefix: string, options: ListOptions, signal: AbortSignal): Promise<ListResult> {
    this.#check(signal);
    const revision = options.revision ?? this.revision;
    if (revision > this.revision) throw new StorageError('future', `${String(revision)} is not there yet`);
    if (revision < this.#oldest) throw this.#compactedError(revision);
    const { after, limit = Infinity } = options;
    const { keys, recordOf } = this.#stateAt(revision);
    const first = lowerBound(keys, (key) => compareKeys(key, prefix) >= 0);
    const end = lowerBound(keys, (key) => !key.startsWith(prefix) && compareKeys(key, prefix) > 0);
    const next = after === undefined ? first : lowerBound(keys, (key) => compareKeys(key, after) > 0);
    const start = Math.min(Math.max(first, next), end);
    const records = keys
      .slice(start, Math.min(end, start + limit))
      .map(recordOf)
      .filter((record) => record !== undefined)
      .map((record) => (options.keysOnly === true ? { ...record, value: Buffer.alloc(0) } : record));
    return Promise.resolve({ records, revision, remaining: end - start - records.length });
  }

  async create(
    key: string,
    value: Buffer,
    options: CreateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    this.#check(signal);
    const current = this.#records.get(key);
    return Promise.resolve(
      current === undefined && this.#holds(options.guards)
        ? this.#write(key, value, options)
        : { ok: false, current, revision: this.revision },
    );
  }

  async update(
    key: string,
    value: Buffer,
    options: UpdateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    this.#check(signal);
    const current = this.#records.get(key);
    return Promise.resolve(
      current?.revision === options.expected && this.#holds(options.guards)
        ? this.#write(key, value, options)
        : { ok: false, current, revision: this.revision },
    );
  }

  async delete(key: string, expected: number, signal: AbortSignal): Promise<DeleteOutcome> {
    this.#check(signal);
    const current = this.#records.get(key);
    if (current?.revision !== expected)
      return Promise.resolve({ ok: false, current, revision: this.revision });
    return Promise.resolve({ ok: true, revision: this.remove(key), deleted: current });
  }

  async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<readonly Revision[]> {
    this.#check();
    for (let next = options.from; ;) {
      if (signal.aborted || this.#isClosed) return;
      this.#check();
      if (next < this.#compacted || next <= this.#history.floor) throw this.#compactedError(next);
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
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { cancel } of this.#expiries.values()) cancel();
    this.#expiries.clear();
    this.#wakeAll();
    return Promise.resolve();
  }

  /** Every call fails with `error` until it is cleared with undefined; running watches throw it. */
  fail(error: StorageError | undefined): void {
    this.outage = error;
    this.#wakeAll();
  }

  /** Writes without a compare; returns the revision. */
  put(key: string, value: Buffer): number {
    return this.transact([{ key, value }]);
  }

  /** Deletes a record, which must exist; returns the revision. */
  remove(key: string): number {
    return this.transact([{ key }]);
  }

  /** Applies several changes at one revision, as when a lease expires; returns the revision. */
  transact(changes: readonly MemoryWrite[]): number {
    const revision = this.revision + 1;
    const events = changes.map(({ key, value }): Change => {
      this.#expiries.get(key)?.cancel();
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

  /** Copies the current content; the records themselves are shared. */
  snapshot(): MemorySnapshot {
    return {
      revision: this.revision,
      records: new Map(this.#records),
      expiries: new Map([...this.#expiries].map(([key, { dueMs }]) => [key, dueMs])),
    };
  }

  /**
   * Makes the content that of the snapshot, in one new revision: records that differ are written again, records that the snapshot lacks are
   * deleted, and all others keep their revisions. No revision is ever lowered or used twice. Returns the revision.
   */
  restore({ records, expiries }: MemorySnapshot): number {
    const changes: MemoryWrite[] = [];
    for (const key of this.#records.keys()) if (!records.has(key)) changes.push({ key });
    for (const [key, { value }] of records) {
      const current = this.#records.get(key);
      if (current?.value !== value) changes.push({ key, value });
    }
    if (changes.length > 0) this.transact(changes);
    for (const { cancel } of this.#expiries.values()) cancel();
    this.#expiries.clear();
    for (const [key, dueMs] of expiries) this.#expireAt(key, dueMs);
    return this.revision;
  }

  #check(signal?: AbortSignal): void {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new StorageError('closed', 'the store is closed');
    if (this.outage !== undefined) throw this.outage;
  }

  #holds(guards: readonly Guard[] = []): boolean {
    return guards.every(({ key, revision }) => this.#records.get(key)?.revision === revision);
  }

  #write(key: string, value: Buffer, { ttlSeconds }: WriteOptions): WriteOutcome {
    const revision = this.put(key, value);
    if (ttlSeconds !== undefined) this.#expireAt(key, this.#clock.now() + ttlSeconds * SECOND_MS);
    return { ok: true, revision };
  }

  #expireAt(key: string, dueMs: number): void {
    const cancel = this.#clock.after(dueMs - this.#clock.now(), () => {
      if (this.#clock.now() < dueMs) this.#expireAt(key, dueMs);
      else this.remove(key);
    });
    this.#expiries.set(key, { dueMs, cancel });
  }

  /** The oldest revision that can be read. */
  get #oldest(): number {
    return Math.max(this.#compacted, this.#history.floor);
  }

  #compactedError(revision: number): StorageError {
    return new StorageError('compacted', `${String(revision)} is compacted`, {
      compactRevision: Math.max(this.#compacted, this.#history.floor + 1),
    });
  }

  /** The sorted keys that existed at a revision, and the records at it. */
  #stateAt(revision: number): {
    readonly keys: readonly string[];
    readonly recordOf: (key: string) => StoredRecord | undefined;
  } {
    if (revision === this.revision) {
      this.#sortedKeys ??= [...this.#records.keys()].sort(compareKeys);
      return { keys: this.#sortedKeys, recordOf: (key) => this.#records.get(key) };
    }
    const before = this.#history.undoTo(revision);
    const recordOf = (key: string): StoredRecord | undefined =>
      before.has(key) ? before.get(key) : this.#records.get(key);
    const keys = new Set([...this.#records.keys(), ...before.keys()]);
    return { keys: [...keys].filter((key) => recordOf(key) !== undefined).sort(compareKeys), recordOf };
  }

  #revisionFor(revision: number, { prefix, withPrevious }: WatchOptions): Revision | undefined {
    const all = this.#history.at(revision);
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
