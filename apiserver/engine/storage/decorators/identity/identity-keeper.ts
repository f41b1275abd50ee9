import { randomUUID } from 'node:crypto';
import { untilAborted } from '../../../../../shared/concurrency/abort';
import { withTimeLimit } from '../../../../../shared/concurrency/time-limit';
import type { Log } from '../../../../../shared/log/log';
import type { StoreIdentityRecord } from '../../../../../shared/store-identity';
import { encodeStoreIdentity, offsetAbove, parseStoreIdentity } from '../../../../../shared/store-identity';
import { StorageError } from '../../backend';
import type { ReplaceableStore } from './replaceable-store';

export interface StoreIdentityOptions {
  readonly store: ReplaceableStore;
  /** The key of the identity record: below the prefix of the objects, so that every watch of the whole keyspace includes it. */
  readonly key: string;
  readonly log: Log;
}

/** The current identity of the store, valid until `over` aborts. */
export interface StoreIdentity extends StoreIdentityRecord {
  readonly over: AbortSignal;
}

const RENEWAL_MS_MAX = 10_000;
/** Retries are needed while members of the old and the new store answer alternately, and while other replicas write the record. */
const TRIES_MAX = 20;

/** Holds the current identity of the store, and writes a new one when the store was replaced. */
export class StoreIdentityKeeper {
  readonly #options: StoreIdentityOptions;
  readonly #closing = new AbortController();
  #present: (StoreIdentity & { readonly end: (why: Error) => void }) | undefined;
  /** The id of the last identity that was valid here. */
  #knownId: string | undefined;
  /** The newest revision seen, including its offset. */
  #seen = 0;
  #resets = 0;
  #renewal: Promise<StoreIdentity> | undefined;
  #replacements = 0;

  constructor(options: StoreIdentityOptions) {
    this.#options = options;
  }

  get replacements(): number {
    return this.#replacements;
  }

  /** Records a revision that was returned to a caller. */
  see(revision: number): void {
    if (revision > this.#seen) this.#seen = revision;
  }

  /** The current identity; undefined if it has to be read first. */
  get known(): StoreIdentity | undefined {
    const present = this.#present;
    return present !== undefined && this.holds(present) ? present : undefined;
  }

  /** The current identity; reads or writes its record if necessary. Throws StorageErrors, and the signal's reason. */
  async current(signal: AbortSignal): Promise<StoreIdentity> {
    signal.throwIfAborted();
    const { known } = this;
    if (known !== undefined) return known;
    if (this.#renewal === undefined) {
      const renewal = this.#renew().finally(() => {
        this.#renewal = undefined;
      });
      // All callers may have aborted before it rejects.
      renewal.catch(() => undefined);
      this.#renewal = renewal;
    }
    return untilAborted(this.#renewal, signal);
  }

  /** Whether the identity is still the current one. */
  holds(identity: StoreIdentity): boolean {
    if (this.#present !== undefined && this.#options.store.resets !== this.#resets) this.#end();
    return this.#present === identity;
  }

  /** Invalidates the identity, because the store turned out to be another one. */
  lose(identity: StoreIdentity, why: Error): void {
    if (this.#present === identity) this.#end(why);
  }

  close(): void {
    this.#closing.abort(new StorageError('closed', 'The store is closed.'));
  }

  #end(why: Error = new StorageError('reset', 'the store was replaced by another or an older one')): void {
    const present = this.#present;
    this.#present = undefined;
    this.#options.log.error(
      { error: why.message, identity: this.#knownId, newestRevision: this.#seen },
      'the store was replaced by another or an older one; discarding cached state',
    );
    present?.end(why);
  }

  async #renew(): Promise<StoreIdentity> {
    return withTimeLimit(this.#closing.signal, RENEWAL_MS_MAX, async (inTime) => {
      for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
        const identity = await this.#tryToRenew(inTime).catch((error: unknown) => {
          if (error instanceof StorageError && error.code === 'reset') return undefined;
          if (!inTime.aborted || error instanceof StorageError) throw error;
          throw new StorageError('unavailable', 'The store did not return its identity record.', {
            cause: error,
          });
        });
        if (identity !== undefined) return identity;
      }
      throw new StorageError(
        'unavailable',
        'The identity of the store cannot be determined: its record keeps changing.',
      );
    });
  }

  /** Undefined when the record or the store changed meanwhile. */
  async #tryToRenew(signal: AbortSignal): Promise<StoreIdentity | undefined> {
    const { store, key } = this.#options;
    const { resets } = store;
    store.presume(undefined);
    const { record } = await store.get(key, signal);
    const found = record === undefined ? undefined : decodeStoreIdentity(record.value);
    if (found !== undefined && record !== undefined && this.#isNew(found)) {
      return this.#take(found, { revision: record.revision, resets });
    }
    const isFirst = this.#knownId === undefined;
    const next = {
      id: randomUUID(),
      offset: isFirst ? 0 : offsetAbove(Math.max(this.#seen, found?.offset ?? 0)),
    };
    const value = encodeStoreIdentity(next);
    const written =
      record === undefined
        ? await store.create(key, value, {}, signal)
        : await store.update(key, value, { expected: record.revision }, signal);
    return written.ok ? this.#take(next, { revision: written.revision, resets }) : undefined;
  }

  /** Whether the stored identity is valid here: all its revisions are above those seen before. A first read accepts any identity. */
  #isNew({ id, offset }: StoreIdentityRecord): boolean {
    return this.#knownId === undefined || (id !== this.#knownId && offset >= this.#seen);
  }

  #take(
    { id, offset }: StoreIdentityRecord,
    { revision, resets }: { readonly revision: number; readonly resets: number },
  ): StoreIdentity | undefined {
    const { store, key, log } = this.#options;
    if (store.resets !== resets) return undefined;
    store.presume({ key, revision });
    this.#resets = resets;
    if (this.#knownId !== undefined) {
      this.#replacements += 1;
      log.error(
        { identity: id, offset, storeRevision: revision },
        'new store identity; resourceVersions continue above all earlier ones',
      );
    }
    this.#knownId = id;
    this.see(revision + offset);
    const over = new AbortController();
    this.#present = { id, offset, over: over.signal, end: (why) => over.abort(why) };
    return this.#present;
  }
}

/** Parses the stored record. Throws a StorageError `corrupt` for bytes that are no identity. */
export function decodeStoreIdentity(value: Buffer): StoreIdentityRecord {
  const parsed = parseStoreIdentity(value);
  if (!('problem' in parsed)) return parsed;
  throw new StorageError('corrupt', parsed.problem, { cause: parsed.cause });
}
