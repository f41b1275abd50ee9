import type { Backend } from '../../engine/storage/backend';

/** Where one replica of the API is reached. */
export interface ReplicaAddress {
  /** An IP address. */
  readonly ip: string;
  readonly port: number;
}

/** How long a replica counts as alive after it has said so last. */
const RECORD_TTL_SECONDS = 15;
const REPLICAS_MAX = 1_000;

/**
 * The replicas that are alive: each keeps a record in the store that the store removes when its replica falls silent. They stand outside
 * the prefix of API objects.
 */
export class LiveReplicas {
  readonly #backend: Backend;
  readonly #prefix: string;

  /** `storePrefix` is that of the API objects: `/registry`. */
  constructor(backend: Backend, storePrefix: string) {
    this.#backend = backend;
    this.#prefix = `${storePrefix}.replicas/`;
  }

  /** Says that the replica is alive. */
  async announce(replica: ReplicaAddress, signal: AbortSignal): Promise<void> {
    const key = this.#keyOf(replica);
    const value = Buffer.from(JSON.stringify({ ip: replica.ip, port: replica.port }));
    const options = { ttlSeconds: RECORD_TTL_SECONDS };
    const created = await this.#backend.create(key, value, options, signal);
    if (created.ok || created.current === undefined) return;
    // A failed compare means that the record was written or has expired this very moment; the next round is soon enough.
    await this.#backend.update(key, value, { ...options, expected: created.current.revision }, signal);
  }

  /** Takes the replica's record away, so that nobody is sent to it any more. */
  async withdraw(replica: ReplicaAddress, signal: AbortSignal): Promise<void> {
    const key = this.#keyOf(replica);
    const { record } = await this.#backend.get(key, signal);
    if (record !== undefined) await this.#backend.delete(key, record.revision, signal);
  }

  /** All replicas that are alive, in one order everywhere. */
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
