import type { Clock } from '../../../shared/concurrency/clock';
import type { FlagRow } from '../../../shared/flags/flag-row';
import type { Log } from '../../../shared/log/log';
import type { Backend } from './backend';

/** The heading of the flags of stores in `--help`. */
export const STORAGE_GROUP = 'Storage';

/** The options that all stores share. */
export interface CommonStoreOptions {
  /** The root of all keys, with a slash in front and none at the end. */
  readonly prefix: string;
  /** Interval of compaction; 0 disables it. */
  readonly compactionIntervalMs: number;
  /** Interval of the poll for the database size; 0 disables it. */
  readonly sizePollMs: number;
}

export interface OpenParts {
  readonly clock: Clock;
  readonly log: Log;
}

/** An open store, which may be unavailable. */
export interface OpenStore {
  readonly backend: Backend;
  /** Number of replacements of the store by another or an older one since it was opened. Absent: it cannot be replaced while open. */
  readonly replacements?: () => number;
  /** A problem of a store that still answers, e.g. a full database; undefined if there is none. Absent: there are no such problems. */
  readonly trouble?: () => string | undefined;
  /** Polls for such problems until the signal aborts. */
  readonly keepInformed?: (signal: AbortSignal) => Promise<void>;
  /** Rejects when the store accepts no more writes until it is opened again. Absent: it recovers by itself. */
  readonly failed?: Promise<never>;
  /** A backup of the current state, with its size; absent where the store has backup tools of its own. */
  readonly backup?: () => { readonly bytes: number; readonly pieces: AsyncIterable<Buffer> };
  /** Resolves when the store has answered; throws a StorageError otherwise, and may then be called again. */
  connect(signal: AbortSignal): Promise<void>;
  /** Bytes of the database by endpoint, for metrics; absent where there are no endpoints. */
  readonly databaseSizes?: ReadonlyMap<string, number>;
  /** Polls the sizes until the signal aborts. */
  keepDatabaseSizes?(intervalMs: number, signal: AbortSignal): Promise<void>;
  /** Compacts at the interval until the signal aborts. */
  keepCompact(signal: AbortSignal): Promise<void>;
}

/** A store for `--storage-backend`. `Flags` are the parsed flags that it reads, `Options` the options derived from them. */
export interface BackendRow<Flags, Options> {
  /** Description for the help of `--storage-backend`: `an etcd cluster`. */
  readonly help: string;
  readonly names: {
    /** In health checks. */
    readonly check: string;
    /** In the list of ComponentStatuses. */
    readonly component: string;
  };
  /** Its own flags. */
  readonly flags: readonly FlagRow[];
  /**
   * The required flag, which no other store accepts, so that a flag of another store is detected. `hint` names an alternative. Absent: the
   * store needs no flag.
   */
  readonly needs?: { readonly flag: string; readonly hint?: string };
  /** Whether the required flag is set; true if there is none. */
  isNamed(flags: Flags): boolean;
  /** Errors in the values of its flags, as sentences for the user. */
  problems(flags: Flags): readonly string[];
  /** Warnings about the values, as sentences for the log. */
  warnings?(flags: Flags): readonly string[];
  /** Converts valid flags to options. */
  options(flags: Flags): Options;
  /** Opens the store. Throws a StorageError that says what to do when it cannot be used at all. */
  open(options: Options & CommonStoreOptions, parts: OpenParts): Promise<OpenStore>;
}
