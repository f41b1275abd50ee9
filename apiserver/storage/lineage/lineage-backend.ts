import { linkedAbort } from '../../../shared/concurrency/linked-abort';
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
  WriteOutcome,
} from '../backend';
import type { StorageErrorCode } from '../backend';
import { StorageError } from '../backend';
import type { Lineage, LineageOptions } from './lineage-keeper';
import { LineageKeeper } from './lineage-keeper';
import { decodeLineage } from './decode-lineage';
import type { ReplaceableStore } from './replaceable-store';
import { shiftedOutcome, shiftedRecord, shiftedRevision } from './shifted';

/**
 * A store whose revisions never come twice, also when somebody replaces it by an empty or an older one while this process runs. Its
 * identity is written down in it, under a key of its own. Once it is another one, the first to notice writes a new identity, with a number
 * that is added to all revisions from then on, so that each is above all that were given out before. What was known of the store before
 * is then over: running watches throw `reset`, its revisions are `compacted` to reads and conflicts to writes. All replicas read the
 * same identity, and see in the watch of the whole keyspace that it changes.
 */
export class LineageBackend implements Backend {
  readonly #options: LineageOptions;
  readonly #keeper: LineageKeeper;

  constructor(options: LineageOptions) {
    this.#options = options;
    this.#keeper = new LineageKeeper(options);
  }

  /** How often the store was replaced, as far as this process has seen it. */
  get replacements(): number {
    return this.#keeper.replacements;
  }

  async get(
    key: string,
    signal: AbortSignal,
  ): Promise<{ record: StoredRecord | undefined; revision: number }> {
    return this.#read(signal, async ({ offset }) => {
      const { record, revision } = await this.#store.get(key, signal);
      return {
        record: record === undefined ? undefined : shiftedRecord(record, offset),
        revision: revision + offset,
      };
    });
  }

  async list(prefix: string, options: ListOptions, signal: AbortSignal): Promise<ListResult> {
    return this.#read(signal, async ({ offset }) => {
      if (offset === 0) return this.#store.list(prefix, options, signal);
      const { revision: wanted } = options;
      if (wanted !== undefined && wanted <= offset) throw ofEarlierLineage(wanted, offset);
      const at = wanted === undefined ? {} : { revision: wanted - offset };
      const { records, revision, remaining } = await this.#store.list(prefix, { ...options, ...at }, signal);
      const shifted = records.map((record) => shiftedRecord(record, offset));
      return { records: shifted, revision: revision + offset, remaining };
    });
  }

  async create(
    key: string,
    value: Buffer,
    options: CreateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    return this.#write(signal, async ({ offset }) => {
      const guards = guardsAt(options.guards, offset);
      if (guards === undefined) return this.#conflict(key, offset, signal);
      return shiftedOutcome(await this.#store.create(key, value, { ...options, guards }, signal), offset);
    });
  }

  async update(
    key: string,
    value: Buffer,
    options: UpdateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    return this.#write(signal, async ({ offset }) => {
      const guards = guardsAt(options.guards, offset);
      const expected = revisionAt(options.expected, offset);
      if (guards === undefined || expected === undefined) return this.#conflict(key, offset, signal);
      const there = { ...options, guards, expected };
      return shiftedOutcome(await this.#store.update(key, value, there, signal), offset);
    });
  }

  async delete(key: string, expected: number, signal: AbortSignal): Promise<DeleteOutcome> {
    return this.#write(signal, async ({ offset }) => {
      const at = revisionAt(expected, offset);
      if (at === undefined) return this.#conflict(key, offset, signal);
      const outcome = await this.#store.delete(key, at, signal);
      if (!outcome.ok) return shiftedOutcome(outcome, offset);
      const { deleted, revision } = outcome;
      return { ok: true, revision: revision + offset, deleted: shiftedRecord(deleted, offset) };
    });
  }

  async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<readonly Revision[]> {
    if (signal.aborted) return;
    const lineage = await this.#keeper.current(signal);
    const { offset } = lineage;
    if (offset > 0 && options.from <= offset) throw ofEarlierLineage(options.from, offset);
    const { signal: whileIt, unlink } = linkedAbort(signal, lineage.over);
    try {
      for await (const batch of this.#store.watch({ ...options, from: options.from - offset }, whileIt)) {
        if (!this.#keeper.holds(lineage)) break;
        const last = batch.at(-1);
        if (last !== undefined) this.#keeper.see(last.revision + offset);
        if (options.prefix === undefined) this.#lookForChange(batch, lineage);
        yield offset === 0 ? batch : batch.map((revision) => shiftedRevision(revision, offset));
      }
    } catch (error) {
      throw this.#meaning(error, lineage);
    } finally {
      unlink();
    }
    if (!signal.aborted && !this.#keeper.holds(lineage)) throw replaced();
  }

  async currentRevision(signal: AbortSignal): Promise<number> {
    const answer = await this.#read(signal, async ({ offset }) => ({
      revision: (await this.#store.currentRevision(signal)) + offset,
    }));
    return answer.revision;
  }

  async compact(revision: number, signal: AbortSignal): Promise<void> {
    const { offset } = await this.#keeper.current(signal);
    if (offset === 0 || revision > offset) await this.#store.compact(revision - offset, signal);
  }

  async close(): Promise<void> {
    this.#keeper.close();
    await this.#store.close();
  }

  get #store(): ReplaceableStore {
    return this.#options.store;
  }

  #read<T extends { readonly revision: number }>(signal: AbortSignal, call: Call<T>): Promise<T> {
    return this.#run(signal, call, 'unavailable');
  }

  #write<T extends { readonly revision: number }>(signal: AbortSignal, call: Call<T>): Promise<T> {
    return this.#run(signal, call, 'unknown-outcome');
  }

  /** An answer for which the line of history was over when it came is one of either store, and becomes an error of the code `outdated`. */
  async #run<T extends { readonly revision: number }>(
    signal: AbortSignal,
    call: Call<T>,
    outdated: StorageErrorCode,
  ): Promise<T> {
    signal.throwIfAborted();
    const lineage = this.#keeper.known ?? (await this.#keeper.current(signal));
    let answer: T;
    try {
      answer = await call(lineage);
    } catch (error) {
      const meaning = this.#meaning(error, lineage);
      // A later try finds the store as it is now.
      if (meaning instanceof StorageError && meaning.code === 'reset') throw unavailable(meaning);
      throw meaning;
    }
    if (!this.#keeper.holds(lineage)) {
      throw new StorageError(outdated, 'the store was replaced while it was asked');
    }
    this.#keeper.see(answer.revision);
    return answer;
  }

  #meaning(error: unknown, lineage: Lineage): unknown {
    if (!(error instanceof StorageError)) return error;
    if (error.code === 'reset') this.#keeper.lose(lineage, error);
    const { compactRevision, code, message } = error;
    if (compactRevision === undefined || lineage.offset === 0) return error;
    return new StorageError(code, message, {
      cause: error,
      compactRevision: compactRevision + lineage.offset,
    });
  }

  /** What a write is told whose record, or guard, is one of an earlier line of history. */
  async #conflict(
    key: string,
    offset: number,
    signal: AbortSignal,
  ): Promise<WriteOutcome & { readonly ok: false }> {
    const { record, revision } = await this.#store.get(key, signal);
    return shiftedOutcome({ ok: false, current: record, revision }, offset);
  }

  /** Throws `reset` once another replica has written down that the store is another one. */
  #lookForChange(batch: readonly Revision[], lineage: Lineage): void {
    for (const { events } of batch) {
      for (const event of events) {
        if (event.key !== this.#options.key) continue;
        if (event.type === 'put' && decodeLineage(event.value).id === lineage.id) continue;
        throw replaced();
      }
    }
  }
}

type Call<T> = (lineage: Lineage) => Promise<T>;

function revisionAt(revision: number, offset: number): number | undefined {
  return offset > 0 && revision <= offset ? undefined : revision - offset;
}

/** Undefined when one of them cannot stand. */
function guardsAt(guards: readonly Guard[] = [], offset: number): readonly Guard[] | undefined {
  if (offset === 0) return guards;
  if (guards.some(({ revision }) => revision <= offset)) return undefined;
  return guards.map(({ key, revision }) => ({ key, revision: revision - offset }));
}

function ofEarlierLineage(revision: number, offset: number): StorageError {
  return new StorageError(
    'compacted',
    `revision ${String(revision)} is one of the store that was here before it was replaced`,
    { compactRevision: offset + 1 },
  );
}

function replaced(): StorageError {
  return new StorageError('reset', 'the store was replaced by another or an older one');
}

function unavailable(cause: StorageError): StorageError {
  return new StorageError('unavailable', cause.message, { cause });
}
