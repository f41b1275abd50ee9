import { forEachLimited } from '../../../../../shared/concurrency/for-each-limited';
import { Slices } from '../../../../../shared/concurrency/slices';
import type {
  Backend,
  Conflict,
  CreateOptions,
  DeleteOutcome,
  ListOptions,
  ListResult,
  Revision,
  StoredRecord,
  StoredValue,
  UpdateOptions,
  WatchOptions,
  WriteOutcome,
} from '../../backend';
import { StorageError } from '../../backend';
import type { Sealer } from './sealer';
import { startsWith } from './sealer';
import type { TransformationCounts } from './transformation-counts';

export interface EncryptedBackendOptions {
  readonly backend: Backend;
  /** The root of the served keys, without a slash at the end. */
  readonly prefix: string;
  /** How each resource is stored, by the prefix of its keys below `prefix` (`core/secrets/`). None of the lists is empty. */
  readonly sealers: ReadonlyMap<string, readonly Sealer[]>;
  readonly counts: TransformationCounts;
}

/** Number of values of one answer that a service decrypts concurrently. */
const OPENED_AT_ONCE = 32;

/**
 * A decorator that encrypts the records of some resources. They are written by the first sealer of their resource and read by any. A record
 * written by another sealer is `stale`; a record that no sealer can read is `unreadable` and does not affect other records. When a service
 * does not answer, reads and watches fail with StorageError `unavailable`; a watch can then resume.
 */
export class EncryptedBackend implements Backend {
  readonly #backend: Backend;
  readonly #root: string;
  readonly #sealers: ReadonlyMap<string, readonly Sealer[]>;
  readonly #counts: TransformationCounts;

  constructor({ backend, prefix, sealers, counts }: EncryptedBackendOptions) {
    this.#backend = backend;
    this.#root = `${prefix}/`;
    this.#sealers = sealers;
    this.#counts = counts;
  }

  async get(
    key: string,
    signal: AbortSignal,
  ): Promise<{ record: StoredRecord | undefined; revision: number }> {
    const { record, revision } = await this.#backend.get(key, signal);
    return { record: record === undefined ? undefined : await this.#opened(record), revision };
  }

  async list(prefix: string, options: ListOptions, signal: AbortSignal): Promise<ListResult> {
    const page = await this.#backend.list(prefix, options, signal);
    if (options.keysOnly === true || !page.records.some(({ key }) => this.#sealersOf(key) !== undefined)) {
      return page;
    }
    const records = [...page.records];
    const slices = new Slices();
    await forEachLimited(page.records.entries(), OPENED_AT_ONCE, async ([index, record]) => {
      if (this.#sealersOf(record.key) === undefined) return;
      signal.throwIfAborted();
      if (slices.due()) await slices.pause();
      records[index] = await this.#opened(record);
    });
    return { ...page, records };
  }

  async create(
    key: string,
    value: Buffer,
    options: CreateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    const outcome = await this.#backend.create(key, await this.#sealed(key, value), options, signal);
    return outcome.ok ? outcome : this.#conflict(outcome);
  }

  async update(
    key: string,
    value: Buffer,
    options: UpdateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    const outcome = await this.#backend.update(key, await this.#sealed(key, value), options, signal);
    return outcome.ok ? outcome : this.#conflict(outcome);
  }

  async delete(key: string, expected: number, signal: AbortSignal): Promise<DeleteOutcome> {
    const outcome = await this.#backend.delete(key, expected, signal);
    if (!outcome.ok) return this.#conflict(outcome);
    const { deleted } = outcome;
    try {
      return { ...outcome, deleted: await this.#opened(deleted) };
    } catch (error) {
      // The record is deleted, even if it cannot be decrypted.
      return { ...outcome, deleted: { ...deleted, unreadable: messageOf(error) } };
    }
  }

  async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<readonly Revision[]> {
    for await (const batch of this.#backend.watch(options, signal)) {
      yield batch.some((revision) => this.#touches(revision)) ? await this.#openedBatch(batch) : batch;
    }
  }

  async currentRevision(signal: AbortSignal): Promise<number> {
    return this.#backend.currentRevision(signal);
  }

  async compact(revision: number, signal: AbortSignal): Promise<void> {
    return this.#backend.compact(revision, signal);
  }

  async close(): Promise<void> {
    for (const sealers of this.#sealers.values()) for (const { close } of sealers) close?.();
    await this.#backend.close();
  }

  /** The sealers of the resource of the key; undefined if it is not encrypted. */
  #sealersOf(key: string): readonly Sealer[] | undefined {
    if (!key.startsWith(this.#root)) return undefined;
    const group = key.indexOf('/', this.#root.length);
    const resource = group < 0 ? -1 : key.indexOf('/', group + 1);
    return resource < 0 ? undefined : this.#sealers.get(key.slice(this.#root.length, resource + 1));
  }

  async #sealed(key: string, value: Buffer): Promise<Buffer> {
    const [first] = this.#sealersOf(key) ?? [];
    if (first === undefined) return value;
    try {
      const sealed = await first.seal(value, key);
      this.#counts.add('to_storage', 'OK');
      return first.prefix.length === 0 ? sealed : Buffer.concat([first.prefix, sealed]);
    } catch (error) {
      this.#counts.addFailure('to_storage', error);
      throw error;
    }
  }

  /** Decrypts a value. A value of a resource that is not encrypted is returned unchanged. */
  async #opened<Value extends StoredValue & { readonly key: string }>(
    stored: Value,
  ): Promise<Value & Pick<StoredRecord, 'stale'>> {
    const sealers = this.#sealersOf(stored.key);
    if (sealers === undefined) return stored;
    const { key, value } = stored;
    let problem: unknown;
    for (const [index, { prefix, open }] of sealers.entries()) {
      if (!startsWith(value, prefix)) continue;
      try {
        const opened = open(value.subarray(prefix.length), key);
        const plain = opened instanceof Buffer ? opened : await opened;
        this.#counts.add('from_storage', 'OK');
        return index === 0 ? { ...stored, value: plain } : { ...stored, value: plain, stale: true };
      } catch (error) {
        if (error instanceof StorageError && error.code === 'unavailable') {
          this.#counts.addFailure('from_storage', error);
          throw error;
        }
        // Several keys may have the same name. A failure of the identity sealer is not reported.
        if (prefix.length > 0) problem ??= error;
      }
    }
    this.#counts.addFailure('from_storage', problem);
    const why = problem === undefined ? 'no key of the configuration fits' : messageOf(problem);
    return { ...stored, unreadable: `${key} cannot be decrypted: ${why}` };
  }

  async #conflict(conflict: Conflict): Promise<Conflict> {
    const { current } = conflict;
    return current === undefined ? conflict : { ...conflict, current: await this.#opened(current) };
  }

  #touches({ events }: Revision): boolean {
    return events.some(({ key }) => this.#sealersOf(key) !== undefined);
  }

  async #openedBatch(batch: readonly Revision[]): Promise<readonly Revision[]> {
    const opened = [...batch];
    const slices = new Slices({ isUrgent: true });
    await forEachLimited(batch.entries(), OPENED_AT_ONCE, async ([index, revision]) => {
      if (!this.#touches(revision)) return;
      const events: (typeof revision.events)[number][] = [];
      for (const event of revision.events) {
        if (slices.due()) await slices.pause();
        const { previous } = event;
        const now = event.type === 'put' ? await this.#opened(event) : event;
        events.push(previous === undefined ? now : { ...now, previous: await this.#opened(previous) });
      }
      opened[index] = { ...revision, events };
    });
    return opened;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
