import type { Backend } from '../../engine/storage/backend';

/** The network address of a replica of the API. */
export interface ReplicaAddress {
  /** An IP address. */
  readonly ip: string;
  readonly port: number;
}

/** Lifetime of a replica's record after its last renewal. */
const RECORD_TTL_SECONDS = 15;
const REPLICAS_MAX = 1_000;

/** The live replicas. Each keeps a record with a TTL in the store, outside of the prefix of API objects. */
export class LiveReplicas {
  readonly #backend: Backend;
  readonly #prefix: string;

  /** `storePrefix` is the prefix of the API objects: `/registry`. */
  constructor(backend: Backend, storePrefix: string) {
    this.#backend = backend;
    this.#prefix = `${storePrefix}.replicas/`;
  }

  /** Creates or renews the record of the replica. */
  async announce(replica: ReplicaAddress, signal: AbortSignal): Promise<void> {
    const key = this.#keyOf(replica);
    const value = Buffer.from(JSON.stringify({ ip: replica.ip, port: replica.port }));
    const options = { ttlSeconds: RECORD_TTL_SECONDS };
    const created = await this.#backend.create(key, value, options, signal);
    if (created.ok || created.current === undefined) return;
    // A failed compare means that the record was just written or has expired; the next round retries.
    await this.#backend.update(key, value, { ...options, expected: created.current.revision }, signal);
  }

  /** Removes the record of the replica, so that it gets no new clients. */
  async withdraw(replica: ReplicaAddress, signal: AbortSignal): Promise<void> {
    const key = this.#keyOf(replica);
    const { record } = await this.#backend.get(key, signal);
    if (record !== undefined) await this.#backend.delete(key, record.revision, signal);
  }

  /** Returns all live replicas, in the same order on every replica. */
  async list(signal: AbortSignal): Promise<readonly ReplicaAddress[]> {
    const { records } = await this.#backend.list(this.#prefix, { limit: REPLICAS_MAX }, signal);
    return records.flatMap(({ value }) => {
      const { ip, port } = JSON.parse(value.toString('utf8')) as Partial<ReplicaAddress>;
      return typeof ip === 'string' && typeof port === 'number' ? [{ ip, port }] : [];
    });
  }

  #keyOf({ ip, port }: ReplicaAddress): string {
    return `${this.#prefix}${ip}:${String(port)}`;
  }
}
