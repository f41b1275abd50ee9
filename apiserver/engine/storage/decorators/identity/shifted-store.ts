import type {
  Backend,
  Conflict,
  CreateOptions,
  DeleteOutcome,
  Guard,
  ListOptions,
  ListResult,
  Revision,
  StoredRecord,
  UpdateOptions,
  WriteOutcome,
} from '../../backend';
import { StorageError } from '../../backend';

/** The calls whose revisions are shifted. */
export type StoreCalls = Pick<Backend, 'get' | 'list' | 'create' | 'update' | 'delete' | 'currentRevision'>;

/** A store after a replacement: adds `offset` to all its revisions. Revisions up to `offset` belong to the replaced store. */
export class ShiftedStore implements StoreCalls {
  readonly #store: StoreCalls;
  readonly #offset: number;

  constructor(store: StoreCalls, offset: number) {
    this.#store = store;
    this.#offset = offset;
  }

  async get(
    key: string,
    signal: AbortSignal,
  ): Promise<{ record: StoredRecord | undefined; revision: number }> {
    const { record, revision } = await this.#store.get(key, signal);
    return {
      record: record === undefined ? undefined : shiftedRecord(record, this.#offset),
      revision: revision + this.#offset,
    };
  }

  async list(prefix: string, options: ListOptions, signal: AbortSignal): Promise<ListResult> {
    const { revision: wanted } = options;
    if (wanted !== undefined && wanted <= this.#offset) throw errorOfReplacedStore(wanted, this.#offset);
    const at = wanted === undefined ? {} : { revision: wanted - this.#offset };
    const { records, revision, remaining } = await this.#store.list(prefix, { ...options, ...at }, signal);
    const shifted = records.map((record) => shiftedRecord(record, this.#offset));
    return { records: shifted, revision: revision + this.#offset, remaining };
  }

  async create(
    key: string,
    value: Buffer,
    options: CreateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    const guards = this.#guards(options.guards);
    if (guards === undefined) return this.#conflict(key, signal);
    return shiftedOutcome(await this.#store.create(key, value, { ...options, guards }, signal), this.#offset);
  }

  async update(
    key: string,
    value: Buffer,
    options: UpdateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    const guards = this.#guards(options.guards);
    if (guards === undefined || this.#isEarlier(options.expected)) return this.#conflict(key, signal);
    const there = { ...options, guards, expected: options.expected - this.#offset };
    return shiftedOutcome(await this.#store.update(key, value, there, signal), this.#offset);
  }

  async delete(key: string, expected: number, signal: AbortSignal): Promise<DeleteOutcome> {
    if (this.#isEarlier(expected)) return this.#conflict(key, signal);
    const outcome = await this.#store.delete(key, expected - this.#offset, signal);
    if (!outcome.ok) return shiftedOutcome(outcome, this.#offset);
    const { deleted, revision } = outcome;
    return { ok: true, revision: revision + this.#offset, deleted: shiftedRecord(deleted, this.#offset) };
  }

  async currentRevision(signal: AbortSignal): Promise<number> {
    return (await this.#store.currentRevision(signal)) + this.#offset;
  }

  #isEarlier(revision: number): boolean {
    return revision <= this.#offset;
  }

  /** Undefined if a guard is from the replaced store and can never match. */
  #guards(guards: readonly Guard[] = []): readonly Guard[] | undefined {
    if (guards.some(({ revision }) => this.#isEarlier(revision))) return undefined;
    return guards.map(({ key, revision }) => ({ key, revision: revision - this.#offset }));
  }

  /** The conflict of a write whose record or guard is from the replaced store. */
  async #conflict(key: string, signal: AbortSignal): Promise<WriteOutcome & { readonly ok: false }> {
    const { record, revision } = await this.#store.get(key, signal);
    return shiftedOutcome({ ok: false, current: record, revision }, this.#offset);
  }
}

/** The error `compacted` for a revision up to `offset`. */
export function errorOfReplacedStore(revision: number, offset: number): StorageError {
  return new StorageError(
    'compacted',
    `revision ${String(revision)} is one of the store that was here before it was replaced`,
    { compactRevision: offset + 1 },
  );
}

function shiftedRecord({ key, value, revision }: StoredRecord, offset: number): StoredRecord {
  return { key, value, revision: revision + offset };
}

function shiftedOutcome<T extends WriteOutcome | Conflict>(outcome: T, offset: number): T {
  const revision = outcome.revision + offset;
  if (outcome.ok || outcome.current === undefined) return { ...outcome, revision };
  return { ...outcome, revision, current: shiftedRecord(outcome.current, offset) };
}

export function shiftedRevision({ revision, events }: Revision, offset: number): Revision {
  return {
    revision: revision + offset,
    events: events.map((event) =>
      event.previous === undefined ? event : { ...event, previous: shiftedRecord(event.previous, offset) },
    ),
  };
}
