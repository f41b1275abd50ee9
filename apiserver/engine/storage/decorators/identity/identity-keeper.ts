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
  /** Under which the identity is written down: below the prefix of the objects, so that everybody's watch shows it, and none of them. */
  readonly key: string;
  readonly log: Log;
}

/** A line of history that is the present one, until `over` aborts. */
export interface StoreIdentity extends StoreIdentityRecord {
  readonly over: AbortSignal;
}

const RENEWAL_MS_MAX = 10_000;
/** Answers of the store before and after a change can alternate for a moment, and others write as well. */
const TRIES_MAX = 20;

/** Knows which line of history of the store is the present one, and begins another when the store is another. */
export class StoreIdentityKeeper {
  readonly #options: StoreIdentityOptions;
  readonly #closing = new AbortController();
  #present: (StoreIdentity & { readonly end: (why: Error) => void }) | undefined;
  /** That of the newest line of history that was the present one here. */
  #knownId: string | undefined;
  /** The newest revision that was seen, its offset included. */
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

  /** Takes note of a revision that is known outside. */
  see(revision: number): void {
    if (revision > this.#seen) this.#seen = revision;
  }

  /** The present line of history; undefined when it has to be waited for. */
  get known(): StoreIdentity | undefined {
    const present = this.#present;
    return present !== undefined && this.holds(present) ? present : undefined;
  }

  /** The present line of history; reads or writes it down when it is not known. Throws StorageErrors, and the signal's reason. */
  async current(signal: AbortSignal): Promise<StoreIdentity> {
    signal.throwIfAborted();
    const { known } = this;
    if (known !== undefined) return known;
    if (this.#renewal === undefined) {
      const renewal = this.#renew().finally(() => {
        this.#renewal = undefined;
      });
      // Everybody who waits may have left by then.
      renewal.catch(() => undefined);
      this.#renewal = renewal;
    }
    return untilAborted(this.#renewal, signal);
  }

  /** Whether it still is the present one. */
  holds(identity: StoreIdentity): boolean {
    if (this.#present !== undefined && this.#options.store.resets !== this.#resets) this.#end();
    return this.#present === identity;
  }

  /** The store behind this line of history turned out to be another one. */
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
      'the store was replaced by another or an older one: nothing that was known of it holds any more',
    );
    present?.end(why);
  }

  async #renew(): Promise<StoreIdentity> {
    return withTimeLimit(this.#closing.signal, RENEWAL_MS_MAX, async (inTime) => {
      for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
        const identity = await this.#tryToRenew(inTime).catch((error: unknown) => {
          if (error instanceof StorageError && error.code === 'reset') return undefined;
          if (!inTime.aborted || error instanceof StorageError) throw error;
          throw new StorageError('unavailable', 'The store did not tell its identity.', { cause: error });
        });
        if (identity !== undefined) return identity;
      }
      throw new StorageError('unavailable', 'The identity of the store cannot be made out.');
    });
  }

  /** Undefined when something changed meanwhile. */
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

  /** Whether nothing that was seen can be taken for one of its revisions. Whoever knows nothing yet believes what stands there. */
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
        'the store is another one from here on; resourceVersions go on above all that were given out before',
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
