import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { untilAborted } from '../../../../../shared/concurrency/abort';
import type { Clock } from '../../../../../shared/concurrency/clock';
import { systemClock } from '../../../../../shared/concurrency/clock';
import type { Log } from '../../../../../shared/log/log';
import type {
  Backend,
  CreateOptions,
  DeleteOutcome,
  ListOptions,
  ListResult,
  Revision,
  StoredRecord,
  WatchOptions,
  UpdateOptions,
  WriteOutcome,
} from '../../backend';
import { StorageError } from '../../backend';
import type { StoreBackup } from './backup';
import { backupOf } from './backup';
import { restoreBackup } from './restore';
import type { CommitRequest } from './commit-plan';
import { CommitQueue } from './commit-queue';
import type { Database } from './database';
import { closeDatabase, openDatabase, readValues } from './database';
import { Expiry } from './expiry';
import { Compaction, History } from './history';
import { listRecords } from './listing';
import { loadState } from './loading';
import { StoreFiles, WATERMARK_FILE } from './store-files';
import type { StoreState } from './store-state';
import { Watermark } from './watermark';
import { watchRevisions } from './watching';

export interface EmbeddedOptions {
  /** Made when it is missing. One process at a time may use it. */
  readonly directory: string;
  /** The root of the served keys, without a slash at the end; keys outside of it are foreign to a watch of the whole keyspace. */
  readonly prefix: string;
  /** The store compacts history older than this, in milliseconds. Ten minutes when absent. */
  readonly historyMs?: number;
  /** The store compacts history earlier when it is larger than this. 256 MiB when absent. */
  readonly historyBytesMax?: number;
  /** Whether each write is synchronized with the disk before it is acknowledged; true when absent. */
  readonly isSynced?: boolean;
  readonly clock?: Clock;
  readonly log: Log;
}

/** A store with backups. */
export interface EmbeddedStore extends Backend {
  /** Rejects when the store stops accepting writes until it is opened again: its disk is full, or its directory is removed. */
  readonly failed: Promise<never>;
  /** Everything as it is now; the pieces must be read to their end, or returned. */
  backup(): StoreBackup;
}

/**
 * Opens the store of a single process; makes it out of a backup that lies in its directory, if it is new. Throws a StorageError: `unavailable` when the directory is in use or cannot be written,
 * `corrupt` when its files are damaged or acknowledged writes are missing from them.
 */
export async function openEmbeddedBackend(options: EmbeddedOptions): Promise<EmbeddedStore> {
  const { directory, prefix, isSynced = true, clock = systemClock, log } = options;
  await restoreBackup(directory, { clock, log });
  const history = new History({
    historyMs: options.historyMs ?? HISTORY_MS,
    historyBytesMax: options.historyBytesMax ?? HISTORY_BYTES_MAX,
  });
  const watermarkPath = join(directory, WATERMARK_FILE);
  const records = join(directory, 'records');
  const database = await openDatabase(records, existsSync(watermarkPath));
  let watermark: Watermark | undefined;
  try {
    watermark = new Watermark(watermarkPath);
    const state = await loadState(database, watermark.opened, (row, replaced) => history.add(row, replaced));
    history.forget(state.compactRevision);
    const files = new StoreFiles(directory, records, log);
    const parts = { database, watermark, files, state, history, isSynced, clock, log };
    return new EmbeddedBackend({ ...parts, prefix: `${prefix}/` });
  } catch (error) {
    watermark?.close();
    await closeDatabase(database);
    throw error;
  }
}

/** A value larger than this is refused, as etcd refuses it. */
const VALUE_BYTES_MAX = 1.5 * 1024 * 1024;
const HISTORY_MS = 10 * 60_000;
const HISTORY_BYTES_MAX = 256 * 1024 * 1024;
const FILES_POLL_MS = 1_000;
const LONE_SURROGATE = /\p{Surrogate}/u;

interface Parts {
  readonly database: Database;
  readonly watermark: Watermark;
  readonly files: StoreFiles;
  readonly state: StoreState;
  readonly history: History;
  readonly prefix: string;
  readonly isSynced: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

class EmbeddedBackend implements EmbeddedStore {
  readonly failed: Promise<never>;
  readonly #parts: Parts;
  readonly #commits: CommitQueue;
  readonly #compaction: Compaction;
  readonly #expiry: Expiry;
  readonly #filesTimer: NodeJS.Timeout;
  #closing: Promise<void> | undefined;

  constructor(parts: Parts) {
    const { database, state, watermark, files, history, clock, log, isSynced } = parts;
    this.#parts = parts;
    let onFailure: (failure: StorageError) => void = () => undefined;
    this.failed = new Promise((_resolve, reject) => {
      onFailure = reject;
    });
    // A failure that nothing waits for is returned to later writes.
    this.failed.catch(() => undefined);
    this.#compaction = new Compaction({ database, state, history, log });
    this.#commits = new CommitQueue({
      database,
      state,
      watermark,
      files,
      clock,
      isSynced,
      onCommitted: (row, replacedBytes) => history.add(row, replacedBytes),
      onGroup: () => this.#afterGroup(),
      onFailure,
    });
    this.#filesTimer = setInterval(() => this.#checkFiles(), FILES_POLL_MS).unref();
    this.#expiry = new Expiry({ state, commits: this.#commits, clock, log });
    this.#compaction.resume();
    this.#afterGroup();
  }

  async get(
    key: string,
    signal: AbortSignal,
  ): Promise<{ record: StoredRecord | undefined; revision: number }> {
    const { database, state } = this.#usable(signal);
    const { revision } = state;
    const entry = state.index.get(key);
    if (entry === undefined) return { record: undefined, revision };
    const [value] = await readValues(database, [entry.revision]);
    return { record: value && { key, value, revision: entry.revision }, revision };
  }

  async list(prefix: string, options: ListOptions, signal: AbortSignal): Promise<ListResult> {
    return listRecords(this.#usable(signal), prefix, options, signal);
  }

  async create(
    key: string,
    value: Buffer,
    { ttlSeconds, guards }: CreateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    const ttl = ttlSeconds === undefined ? {} : { ttlSeconds };
    const guarded = guards === undefined ? {} : { guards };
    return this.#write({ type: 'create', key, value, expected: 0, ...ttl, ...guarded }, signal);
  }

  async update(
    key: string,
    value: Buffer,
    { ttlSeconds, expected, guards }: UpdateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    const ttl = ttlSeconds === undefined ? {} : { ttlSeconds };
    const guarded = guards === undefined ? {} : { guards };
    return this.#write({ type: 'update', key, value, expected, ...ttl, ...guarded }, signal);
  }

  async delete(key: string, expected: number, signal: AbortSignal): Promise<DeleteOutcome> {
    return this.#write({ type: 'delete', key, value: undefined, expected }, signal) as Promise<DeleteOutcome>;
  }

  watch(options: WatchOptions, signal: AbortSignal): AsyncIterable<readonly Revision[]> {
    const { database, state, prefix } = this.#parts;
    return watchRevisions({ database, state, servedPrefix: prefix }, options, signal);
  }

  async currentRevision(signal: AbortSignal): Promise<number> {
    return Promise.resolve(this.#usable(signal).state.revision);
  }

  async compact(revision: number, signal: AbortSignal): Promise<void> {
    this.#usable(signal);
    await untilAborted(this.#compaction.compact(revision), signal);
  }

  backup(): StoreBackup {
    if (this.#parts.state.isClosed) throw new StorageError('closed', 'the store is closed');
    return backupOf(this.#parts);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #write(request: CommitRequest, signal: AbortSignal): Promise<WriteOutcome | DeleteOutcome> {
    this.#usable(signal);
    const size = request.value?.length ?? 0;
    if (size > VALUE_BYTES_MAX) {
      throw new StorageError(
        'too-large',
        `a value of ${String(size)} bytes is larger than ${String(VALUE_BYTES_MAX)}`,
      );
    }
    if (LONE_SURROGATE.test(request.key)) throw new TypeError('a key must be well-formed Unicode');
    return this.#commits.submit(request, signal);
  }

  #usable(signal: AbortSignal): Parts {
    signal.throwIfAborted();
    if (this.#parts.state.isClosed) throw new StorageError('closed', 'the store is closed');
    return this.#parts;
  }

  /** Detects a removed directory where no write would detect it. */
  #checkFiles(): void {
    try {
      this.#parts.files.assertLogPresent();
    } catch (error) {
      clearInterval(this.#filesTimer);
      this.#commits.stop(error);
    }
  }

  /** Runs after every group of writes: arms the next expiry and starts an overdue compaction. */
  #afterGroup(): void {
    const { state, history, clock, log } = this.#parts;
    this.#expiry.arm();
    const overdue = history.overdue(clock.now());
    if (overdue === undefined || overdue <= state.compactRevision) return;
    history.forget(overdue);
    this.#compaction.compact(overdue).catch((error: unknown) => {
      log.warn({ error, revision: overdue }, 'compaction failed; the next one retries');
    });
  }

  async #close(): Promise<void> {
    const { database, state, watermark } = this.#parts;
    clearInterval(this.#filesTimer);
    state.isClosed = true;
    state.announce();
    await this.#commits.idle();
    await this.#expiry.stop();
    await this.#compaction.idle();
    watermark.close();
    await closeDatabase(database);
  }
}
