import type {
  CreateOptions,
  UpdateOptions,
  Guard,
  DeleteOutcome,
  ListOptions,
  ListResult,
  Revision,
  StoredRecord,
  WatchOptions,
  WriteOutcome,
} from '../../backend';
import { StorageError } from '../../backend';
import type { ReplaceableStore } from '../../decorators/identity/replaceable-store';
import { withTimeLimit } from '../../../../../shared/concurrency/time-limit';
import type { EtcdOptions } from './etcd-client';
import { EtcdClient } from './etcd-client';
import { encodeShared } from './encode-txn';
import { keysBelow, WHOLE_KEYSPACE } from './keys';
import { isLeaseGone, Leases } from './leases';
import { pagedRange, toRecord } from './paged-range';
import type { Compare, TxnRequest, TxnResponse } from './proto';
import { COMPARE_TARGET } from './proto';
import type { EtcdStatus } from './status';
import { toStatus } from './status';
import { WatchState } from './watch-state';
import { etcdWatchStream } from './etcd-watch-stream';

export interface EtcdBackend extends ReplaceableStore {
  /** The calls below the Backend, for the compactor. */
  readonly client: EtcdClient;
  /** The status of the current member. Logs a warning for versions with known defects. */
  status(signal: AbortSignal): Promise<EtcdStatus>;
}

/**
 * A Backend over etcd's v3 API. It connects when it is first used. Values of records point into the messages they came in: copy
 * a value to keep it for long. A TTL below etcd's least (about one and a half election timeouts) is raised to it.
 */
export function createEtcdBackend(options: EtcdOptions): EtcdBackend {
  return new BackendOverEtcd(new EtcdClient(options));
}

const COMPACT_PROBE_MS = 1_000;

class BackendOverEtcd implements EtcdBackend {
  readonly client: EtcdClient;
  readonly #leases: Leases;
  readonly #closing = new AbortController();
  readonly #readIndexRange: { key: Buffer; countOnly: boolean };
  #hasWarnedOfVersion = false;
  #oldestReadable: Promise<number | undefined> | undefined;
  #presumed: Presumed | undefined;

  constructor(client: EtcdClient) {
    this.client = client;
    this.#leases = new Leases(client.endpoints);
    this.#readIndexRange = { key: Buffer.from(client.prefix), countOnly: true };
  }

  get resets(): number {
    return this.client.identity.resets;
  }

  presume(record: Guard | undefined): void {
    this.#presumed = record && presumedOf(record);
  }

  async get(
    key: string,
    signal: AbortSignal,
  ): Promise<{ record: StoredRecord | undefined; revision: number }> {
    const answer = await this.client.range({ key: Buffer.from(key) }, signal);
    const [kv] = answer.kvs;
    return { record: kv === undefined ? undefined : toRecord(kv), revision: answer.header.revision };
  }

  async list(prefix: string, options: ListOptions, signal: AbortSignal): Promise<ListResult> {
    try {
      return await pagedRange(async (request) => this.client.range(request, signal), prefix, options);
    } catch (error) {
      if (!(error instanceof StorageError) || error.code !== 'compacted') throw error;
      const compactRevision = await this.#findOldestReadable();
      if (compactRevision === undefined) throw error;
      throw new StorageError('compacted', error.message, { cause: error.cause, compactRevision });
    }
  }

  create(key: string, value: Buffer, options: CreateOptions, signal: AbortSignal): Promise<WriteOutcome> {
    return this.#put({ key: Buffer.from(key), value, expected: undefined }, options, signal);
  }

  update(key: string, value: Buffer, options: UpdateOptions, signal: AbortSignal): Promise<WriteOutcome> {
    return this.#put({ key: Buffer.from(key), value, expected: options.expected }, options, signal);
  }

  async delete(key: string, expected: number, signal: AbortSignal): Promise<DeleteOutcome> {
    const bytes = Buffer.from(key);
    const presumed = this.#presumed;
    const answer = await this.client.txn(
      {
        compare: [unchanged(bytes, expected)],
        success: [{ deleteRange: { key: bytes, prevKv: true } }],
        failure: [{ range: { key: bytes } }],
        encoded: presumed?.encoded,
      },
      signal,
    );
    if (!answer.succeeded) {
      this.#checkFailure(answer, presumed);
      return conflict(answer);
    }
    const deleted = answer.responses[0]?.deleteRange?.prevKvs[0];
    if (deleted === undefined) throw new Error('etcd did not return the record that it deleted.');
    return { ok: true, revision: answer.header.revision, deleted: toRecord(deleted) };
  }

  watch(options: WatchOptions, signal: AbortSignal): AsyncIterable<readonly Revision[]> {
    if (!Number.isSafeInteger(options.from) || options.from < 1) {
      throw new RangeError('A watch begins at revision 1 or later.');
    }
    const { client } = this;
    const withPrevious = options.withPrevious ?? false;
    const state = new WatchState({
      from: options.from,
      isWhole: options.prefix === undefined,
      keyPrefix: options.prefix ?? (client.prefix.endsWith('/') ? client.prefix : `${client.prefix}/`),
      withPrevious,
    });
    return etcdWatchStream(
      {
        state,
        range: options.prefix === undefined ? WHOLE_KEYSPACE : keysBelow(options.prefix),
        withPrevious,
        endpoints: client.endpointUrls,
        connect: client.connect,
        tokens: client.tokens,
        dialTimeoutMs: client.dialTimeoutMs,
        verify: async (watch, waiting) => this.#verify(watch, waiting),
        begun: async (waiting) => this.#verifyPresumed(waiting),
        onHeader: (header) => {
          client.identity.note(header);
        },
        log: client.log,
      },
      signal,
      this.#closing.signal,
    );
  }

  async currentRevision(signal: AbortSignal): Promise<number> {
    return (await this.client.range(this.#readIndexRange, signal)).header.revision;
  }

  async compact(revision: number, signal: AbortSignal): Promise<void> {
    if (revision > 0) await this.client.compact({ revision }, signal);
  }

  async status(signal: AbortSignal): Promise<EtcdStatus> {
    const status = toStatus(await this.client.status(signal));
    if (!this.#hasWarnedOfVersion && status.warning !== undefined) {
      this.#hasWarnedOfVersion = true;
      this.client.log.warn({ version: status.version }, status.warning);
    }
    return status;
  }

  async close(): Promise<void> {
    this.#closing.abort(closed());
    this.client.close();
    return Promise.resolve();
  }

  /** Writes in a transaction that also checks the presumed record. `expected` is undefined if the key must be absent. */
  async #put(
    write: { readonly key: Buffer; readonly value: Buffer; readonly expected: number | undefined },
    options: CreateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    const { key, value, expected } = write;
    const { ttlSeconds } = options;
    const own = expected === undefined ? absent(key) : unchanged(key, expected);
    const lease = ttlSeconds === undefined ? 0 : await this.#leases.leaseFor(ttlSeconds, signal);
    const presumed = this.#presumed;
    const request: TxnRequest = {
      compare: options.guards === undefined ? [own] : [own, ...options.guards.map(unchangedGuard)],
      success: [{ put: lease === 0 ? { key, value } : { key, value, lease } }],
      failure: [{ range: { key } }],
      encoded: presumed?.encoded,
    };
    let answer: TxnResponse;
    try {
      answer = await this.client.txn(request, signal);
    } catch (error) {
      if (ttlSeconds === undefined || !isLeaseGone(error)) throw error;
      this.#leases.forget(ttlSeconds);
      return this.#put(write, options, signal);
    }
    if (answer.succeeded) return { ok: true, revision: answer.header.revision };
    this.#checkFailure(answer, presumed);
    return conflict(answer);
  }

  /** Checks in a failed write whether the presumed record has changed. */
  #checkFailure(answer: TxnResponse, presumed: Presumed | undefined): void {
    if (presumed === undefined) return;
    this.#checkPresumed(answer.responses.at(-1)?.range?.kvs[0]?.modRevision, presumed);
  }

  /** Checked at the start of each stream: the store may have been replaced while disconnected. */
  async #verifyPresumed(signal: AbortSignal): Promise<void> {
    const presumed = this.#presumed;
    if (presumed === undefined) return;
    const { kvs } = await this.client.range({ key: presumed.key, keysOnly: true }, signal);
    this.#checkPresumed(kvs[0]?.modRevision, presumed);
  }

  #checkPresumed(found: number | undefined, presumed: Presumed): void {
    if (found === presumed.revision || presumed !== this.#presumed) return;
    throw this.client.identity.lost('The identity record in etcd has changed: the store was replaced.');
  }

  /** A member may lag behind a watch, but a linearizable read may not. */
  async #verify(watch: WatchState, signal: AbortSignal): Promise<void> {
    const revision = watch.lastRevision;
    const hasSeenIt = watch.hasDelivered || this.client.identity.revision >= revision;
    const newest = await this.currentRevision(signal);
    if (newest >= revision || !hasSeenIt) return;
    throw new StorageError(
      'reset',
      `etcd went back to revision ${String(newest)}; ${String(revision)} was seen.`,
    );
  }

  /** A refused read does not return the oldest readable revision; a watch from revision 1 does. Single-flight. */
  async #findOldestReadable(): Promise<number | undefined> {
    this.#oldestReadable ??= this.#askOldestReadable().finally(() => {
      this.#oldestReadable = undefined;
    });
    return this.#oldestReadable;
  }

  async #askOldestReadable(): Promise<number | undefined> {
    const options = { from: 1, prefix: `${this.client.prefix}/` };
    return withTimeLimit(this.#closing.signal, COMPACT_PROBE_MS, async (inTime) => {
      try {
        for await (const _ of this.watch(options, inTime)) return undefined;
      } catch (error) {
        if (error instanceof StorageError) return error.compactRevision;
        throw error;
      }
      return undefined;
    });
  }
}

/** See {@link ReplaceableStore.presume}. */
interface Presumed {
  readonly key: Buffer;
  readonly revision: number;
  /** Its part of each transaction: the comparison, and a read of the record if it fails. */
  readonly encoded: Buffer;
}

function presumedOf({ key: name, revision }: Guard): Presumed {
  const key = Buffer.from(name);
  const encoded = encodeShared({
    compare: [unchanged(key, revision)],
    success: [],
    failure: [{ range: { key, keysOnly: true } }],
  });
  return { key, revision, encoded };
}

function absent(key: Buffer): Compare {
  return { target: COMPARE_TARGET.create, key, createRevision: 0 };
}

function unchangedGuard({ key, revision }: Guard): Compare {
  return unchanged(Buffer.from(key), revision);
}

function unchanged(key: Buffer, expected: number): Compare {
  // Revision 0 is that of an absent key, and a put on it would create one.
  if (!(expected >= 1)) throw new RangeError('The expected revision must be at least 1.');
  return { target: COMPARE_TARGET.mod, key, modRevision: expected };
}

function conflict(answer: TxnResponse): WriteOutcome & { ok: false } {
  const kv = answer.responses[0]?.range?.kvs[0];
  return {
    ok: false,
    current: kv === undefined ? undefined : toRecord(kv),
    revision: answer.header.revision,
  };
}

function closed(): StorageError {
  return new StorageError('closed', 'The storage is closed.');
}
