import { linkedAbort } from '../../../../../shared/concurrency/linked-abort';
import type {
  Backend,
  CreateOptions,
  DeleteOutcome,
  ListOptions,
  ListResult,
  Revision,
  StoredRecord,
  UpdateOptions,
  WatchOptions,
  WriteOutcome,
} from '../../backend';
import type { StorageErrorCode } from '../../backend';
import { StorageError } from '../../backend';
import type { StoreIdentity, StoreIdentityOptions } from './identity-keeper';
import { decodeStoreIdentity, StoreIdentityKeeper } from './identity-keeper';
import type { ReplaceableStore } from './replaceable-store';
import type { StoreCalls } from './shifted-store';
import { errorOfReplacedStore, shiftedRevision, ShiftedStore } from './shifted-store';

/**
 * A decorator that never returns a revision twice, even if the store is replaced by an empty or an older one while this process runs. The
 * store holds an identity record. The first replica that detects a replacement writes a new identity with an offset, which is added to all
 * later revisions so that they are above all earlier ones. Running watches then throw `reset`; old revisions are `compacted` to reads and
 * conflicts to writes. All replicas share the record, and see its changes in the watch of the whole keyspace.
 */
export class StoreIdentityBackend implements Backend {
  readonly #options: StoreIdentityOptions;
  readonly #keeper: StoreIdentityKeeper;

  constructor(options: StoreIdentityOptions) {
    this.#options = options;
    this.#keeper = new StoreIdentityKeeper(options);
  }

  /** Number of replacements that this process detected. */
  get replacements(): number {
    return this.#keeper.replacements;
  }

  get(key: string, signal: AbortSignal): Promise<{ record: StoredRecord | undefined; revision: number }> {
    return this.#run(signal, 'unavailable', (store) => store.get(key, signal), revisionOf);
  }

  list(prefix: string, options: ListOptions, signal: AbortSignal): Promise<ListResult> {
    return this.#run(signal, 'unavailable', (store) => store.list(prefix, options, signal), revisionOf);
  }

  create(key: string, value: Buffer, options: CreateOptions, signal: AbortSignal): Promise<WriteOutcome> {
    return this.#run(
      signal,
      'unknown-outcome',
      (store) => store.create(key, value, options, signal),
      revisionOf,
    );
  }

  update(key: string, value: Buffer, options: UpdateOptions, signal: AbortSignal): Promise<WriteOutcome> {
    return this.#run(
      signal,
      'unknown-outcome',
      (store) => store.update(key, value, options, signal),
      revisionOf,
    );
  }

  delete(key: string, expected: number, signal: AbortSignal): Promise<DeleteOutcome> {
    return this.#run(signal, 'unknown-outcome', (store) => store.delete(key, expected, signal), revisionOf);
  }

  async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<readonly Revision[]> {
    if (signal.aborted) return;
    const identity = await this.#keeper.current(signal);
    const { offset } = identity;
    if (offset > 0 && options.from <= offset) throw errorOfReplacedStore(options.from, offset);
    const { signal: whileIt, unlink } = linkedAbort(signal, identity.over);
    try {
      for await (const batch of this.#store.watch({ ...options, from: options.from - offset }, whileIt)) {
        if (!this.#keeper.holds(identity)) break;
        const last = batch.at(-1);
        if (last !== undefined) this.#keeper.see(last.revision + offset);
        if (options.prefix === undefined) this.#lookForChange(batch, identity);
        yield offset === 0 ? batch : batch.map((revision) => shiftedRevision(revision, offset));
      }
    } catch (error) {
      throw this.#meaning(error, identity);
    } finally {
      unlink();
    }
    if (!signal.aborted && !this.#keeper.holds(identity)) throw replaced();
  }

  currentRevision(signal: AbortSignal): Promise<number> {
    return this.#run(
      signal,
      'unavailable',
      (store) => store.currentRevision(signal),
      (revision) => revision,
    );
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

  /**
   * Runs one call; it is on the hot path, so it creates no extra promises. If the identity is no longer valid when the answer arrives, the
   * answer may be from either store, and is replaced by an error with the code `outdated`.
   */
  async #run<T>(
    signal: AbortSignal,
    outdated: StorageErrorCode,
    call: (store: StoreCalls) => Promise<T>,
    revision: (answer: T) => number,
  ): Promise<T> {
    signal.throwIfAborted();
    const identity = this.#keeper.known ?? (await this.#keeper.current(signal));
    const { offset } = identity;
    let answer: T;
    try {
      answer = await call(offset === 0 ? this.#store : new ShiftedStore(this.#store, offset));
    } catch (error) {
      const meaning = this.#meaning(error, identity);
      // A retry reads the new store.
      if (meaning instanceof StorageError && meaning.code === 'reset') throw unavailable(meaning);
      throw meaning;
    }
    if (!this.#keeper.holds(identity)) {
      throw new StorageError(outdated, 'the store was replaced during the call');
    }
    this.#keeper.see(revision(answer));
    return answer;
  }

  #meaning(error: unknown, identity: StoreIdentity): unknown {
    if (!(error instanceof StorageError)) return error;
    if (error.code === 'reset') this.#keeper.lose(identity, error);
    const { compactRevision, code, message } = error;
    if (compactRevision === undefined || identity.offset === 0) return error;
    return new StorageError(code, message, {
      cause: error,
      compactRevision: compactRevision + identity.offset,
    });
  }

  /** Throws `reset` once another replica has written a new identity. */
  #lookForChange(batch: readonly Revision[], identity: StoreIdentity): void {
    for (const { events } of batch) {
      for (const event of events) {
        if (event.key !== this.#options.key) continue;
        if (event.type === 'put' && decodeStoreIdentity(event.value).id === identity.id) continue;
        throw replaced();
      }
    }
  }
}

function revisionOf({ revision }: { readonly revision: number }): number {
  return revision;
}

function replaced(): StorageError {
  return new StorageError('reset', 'the store was replaced by another or an older one');
}

function unavailable(cause: StorageError): StorageError {
  return new StorageError('unavailable', cause.message, { cause });
}
