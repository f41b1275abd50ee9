/**
 * The interface between orch and a store of bytes. One contract suite (`testing/contract.ts`) tests every promise made here on each
 * implementation: etcd, embedded, memory, and the decorators.
 *
 * A revision is one global, strictly increasing, positive integer (safe in a double). Every successful write takes exactly one
 * new revision; an expiry is a delete with a revision of its own. Keys are absolute, e.g. `/registry/core/pods/default/web`;
 * their order is that of their UTF-8 bytes.
 *
 * Expected outcomes are values; an outage is a thrown {@link StorageError}. Signals are of any kind: mostly `LightSignal`s of
 * requests.
 */

/** Bytes as a store returns them. */
export interface StoredValue {
  readonly value: Buffer;
  /** Why the value cannot be read; `value` then holds the stored bytes. See {@link valueOf}. */
  readonly unreadable?: string;
}

/** One stored value as of `revision`, the revision of its last write. */
export interface StoredRecord extends StoredValue {
  readonly key: string;
  readonly revision: number;
  /** Stored in another form than the current one (e.g. with an old key), so that an unchanged update is written as well. */
  readonly stale?: boolean;
}

/** The value as it was written. Throws StorageError `corrupt` if it cannot be read. */
export function valueOf({ value, unreadable }: StoredValue): Buffer {
  if (unreadable !== undefined) throw new StorageError('corrupt', unreadable);
  return value;
}

/** A failed comparison (optimistic concurrency): nothing was written. `current` is the existing record, or undefined if there is none. */
export interface Conflict {
  readonly ok: false;
  readonly current: StoredRecord | undefined;
  /** A revision at which `current` was the current record. */
  readonly revision: number;
}

export type WriteOutcome = { readonly ok: true; readonly revision: number } | Conflict;

/** A delete also returns the record it removed; `revision` is that of the deletion. */
export type DeleteOutcome =
  { readonly ok: true; readonly revision: number; readonly deleted: StoredRecord } | Conflict;

export interface ListOptions {
  /** The exact past revision to read; absent means the newest (a linearizable read). */
  readonly revision?: number;
  /** The largest number of records in the answer; absent means all. */
  readonly limit?: number;
  /** Start after this absolute key (exclusive). */
  readonly after?: string;
  /** Return records with empty values. */
  readonly keysOnly?: boolean;
}

export interface ListResult {
  readonly records: readonly StoredRecord[];
  /** The revision at which the list was taken. */
  readonly revision: number;
  /** The number of records under the prefix after the last one returned (0 when the list is complete). */
  readonly remaining: number;
}

export type StoreEvent =
  | (StoredValue & { readonly type: 'put'; readonly key: string; readonly created: boolean })
  | { readonly type: 'delete'; readonly key: string };

/** All events of one revision. A revision is always delivered as a whole. */
export interface Revision {
  readonly revision: number;
  /** Empty when the revision touched only keys outside the watched prefix. */
  readonly events: readonly (StoreEvent & { readonly previous?: StoredRecord })[];
}

export interface WatchOptions {
  /** The first revision wanted. It must be at least 1. */
  readonly from: number;
  /**
   * Deliver only events below this prefix, and only revisions that have such an event. Absent: watch the whole keyspace, so that
   * every revision of the store shows up, contiguous, with the events of foreign keys left out.
   */
  readonly prefix?: string;
  /** Fill `previous` of each event with the record before it. */
  readonly withPrevious?: boolean;
}

export interface WriteOptions {
  /** Seconds after which the store deletes the record by itself. Absent means never. A write without it clears an earlier one. */
  readonly ttlSeconds?: number;
}

/** A record that a write requires to be unchanged since it was read. */
export interface Guard {
  readonly key: string;
  /** The revision of the record as it was read; at least 1. */
  readonly revision: number;
}

export interface CreateOptions extends WriteOptions {
  /**
   * Compared in the same step as the key itself. A create that fails only because of them shows no `current`, an update the record that
   * it expected.
   */
  readonly guards?: readonly Guard[];
}

export interface UpdateOptions extends CreateOptions {
  /** The revision of the record that is to be replaced. */
  readonly expected: number;
}

export interface Backend {
  /** A linearizable read of one record. */
  get(key: string, signal: AbortSignal): Promise<{ record: StoredRecord | undefined; revision: number }>;

  /** Records whose key begins with `prefix`, in key order. Throws `compacted` or `future` for a revision that cannot be read. */
  list(prefix: string, options: ListOptions, signal: AbortSignal): Promise<ListResult>;

  /** Writes `value` if the key is absent and all guards match. */
  create(key: string, value: Buffer, options: CreateOptions, signal: AbortSignal): Promise<WriteOutcome>;

  /** Writes `value` if the record's revision is `expected` and all guards match. */
  update(key: string, value: Buffer, options: UpdateOptions, signal: AbortSignal): Promise<WriteOutcome>;

  /** Removes the record if its revision is `expected`. */
  delete(key: string, expected: number, signal: AbortSignal): Promise<DeleteOutcome>;

  /**
   * Batches of revisions in order, with no gap and no duplicate, beginning at `from`, until `signal` aborts (the iteration then
   * ends without an error). The implementation reconnects by itself and resumes after the last revision delivered. It buffers a
   * bounded amount ahead of its reader and never lets a slow reader delay another. Throws `compacted` when `from`, or what it would
   * have to resume from, is no longer there, and `reset` when the store turns out to be another or an older one.
   */
  watch(options: WatchOptions, signal: AbortSignal): AsyncIterable<readonly Revision[]>;

  /** The newest revision, by a linearizable read: every write acknowledged before the call is at or below it. */
  currentRevision(signal: AbortSignal): Promise<number>;

  /** Compacts history below `revision`; the newest state is not affected. Repeated compaction is no error. */
  compact(revision: number, signal: AbortSignal): Promise<void>;

  /** Releases connections, files and timers. Watches end. */
  close(): Promise<void>;
}

/**
 * Why a store could not answer. `unavailable`: nothing was written, a retry may succeed. `unknown-outcome`: a write may or may
 * not have happened. `compacted`: the revision is no longer readable (`compactRevision` says the oldest that is). `future`: the
 * revision has not happened yet. `too-large`: the store refuses a value of this size. `denied`: credentials or grants are wrong.
 * `full`: the store accepts only deletions until it has room again. `reset`: the store was replaced by another or an older one. `corrupt`: stored bytes fail their checksum.
 */
export const STORAGE_ERROR_CODES = [
  'unavailable',
  'unknown-outcome',
  'compacted',
  'future',
  'too-large',
  'full',
  'denied',
  'reset',
  'corrupt',
  'closed',
] as const;
export type StorageErrorCode = (typeof STORAGE_ERROR_CODES)[number];

export class StorageError extends Error {
  readonly code: StorageErrorCode;
  readonly compactRevision: number | undefined;

  constructor(
    code: StorageErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly compactRevision?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'StorageError';
    this.code = code;
    this.compactRevision = options.compactRevision;
  }
}
