import type { Clock } from '../../../shared/concurrency/clock';
import type { FlagRow } from '../../../shared/flags/flag-row';
import type { Log } from '../../../shared/log/log';
import type { Backend } from './backend';

/** The heading of the flags of stores in `--help`. */
export const STORAGE_GROUP = 'Storage';

/** What the flags say of whatever store. */
export interface CommonStoreOptions {
  /** The root of all keys, with a slash in front and none at the end. */
  readonly prefix: string;
  /** How often to forget old history; 0 leaves that to somebody else. */
  readonly compactionIntervalMs: number;
  /** How often to ask for the size of the database; 0 never does. */
  readonly sizePollMs: number;
}

export interface OpenParts {
  readonly clock: Clock;
  readonly log: Log;
}

/** A store that is open, and may still be out of reach. */
export interface OpenStore {
  readonly backend: Backend;
  /** How often the store was replaced by another or an older one since it was opened. Absent: nobody can while it is open. */
  readonly replacements?: () => number;
  /** What is wrong with a store that answers all the same; undefined when nothing is. Absent: nothing can be. */
  readonly trouble?: () => string | undefined;
  /** Looks regularly for trouble, until the signal aborts. */
  readonly keepInformed?: (signal: AbortSignal) => Promise<void>;
  /** All that the store holds now, with its size; absent where others take backups. */
  readonly backup?: () => { readonly bytes: number; readonly pieces: AsyncIterable<Buffer> };
  /** Resolves when the store has answered; throws a StorageError when it does not, and may be called again then. */
  connect(signal: AbortSignal): Promise<void>;
  /** Bytes of the database by endpoint, for metrics; absent where there are no endpoints. */
  readonly databaseSizes?: ReadonlyMap<string, number>;
  /** Asks for them every so often, until the signal aborts. */
  keepDatabaseSizes?(intervalMs: number, signal: AbortSignal): Promise<void>;
  /** Forgets old history regularly, until the signal aborts. */
  keepCompact(signal: AbortSignal): Promise<void>;
}

/** A store that `--storage-backend` may name. `Flags` are the parsed ones it reads, `Options` what it makes of them. */
export interface BackendRow<Flags, Options> {
  /** What it is, for the help of `--storage-backend`: `an etcd cluster`. */
  readonly help: string;
  readonly names: {
    /** In health checks. */
    readonly check: string;
    /** In the list of ComponentStatuses. */
    readonly component: string;
  };
  /** Its own flags. */
  readonly flags: readonly FlagRow[];
  /** The one of them that it cannot do without and that no other store takes: every store has one, so that a flag of another is noticed; `hint` is what else to do. */
  readonly needs: { readonly flag: string; readonly hint?: string };
  /** Whether the flag that it needs is given. */
  isNamed(flags: Flags): boolean;
  /** What is wrong with the values of its flags, each a sentence for the user. */
  problems(flags: Flags): readonly string[];
  /** What is unwise about them, each a sentence for the log. Absent: nothing. */
  warnings?(flags: Flags): readonly string[];
  /** Its part of the options, of flags without a problem. */
  options(flags: Flags): Options;
  /** Opens the store. Throws a StorageError that says what to do when it cannot be used at all. */
  open(options: Options & CommonStoreOptions, parts: OpenParts): Promise<OpenStore>;
}
