import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { untilAborted } from '../../../../../shared/concurrency/abort';
import { METHODS } from './codec';
import type { Endpoints } from './endpoints';
import { StorageError } from '../../backend';
import { STATUS, TransportError } from '../../grpc/transport';

const LEASE_ID_BITS = 52n;
const SHARING_SECONDS_MAX = 60;
const SHARING_PART_OF_TTL = 0.05;
/** The expiry of a lease deletes all its objects in one revision, which must stay small. */
const LEASE_OBJECTS_MAX = 1_000;
/** Covers the time between taking a lease and the write that uses it. */
const SLACK_SECONDS = 1;
const GRANT_ATTEMPTS_MAX = 5;
const KEPT_LEASES_MAX = 1_000;

interface Lease {
  readonly id: Promise<number>;
  readonly sharedUntilMs: number;
  objects: number;
}

/**
 * Leases for objects with a time to live. Objects of the same TTL that are created within 60 s (or a twentieth of the TTL, if that is
 * less) share one, which is granted for that much longer: nothing expires early, and nothing more than that too late. A lease is
 * never kept alive.
 */
export class Leases {
  readonly #endpoints: Endpoints;
  readonly #byTtl = new Map<number, Lease>();

  constructor(endpoints: Endpoints) {
    this.#endpoints = endpoints;
  }

  /** The id of a lease that lasts at least `ttlSeconds` from now. Rejects with the signal's reason when that aborts. */
  async leaseFor(ttlSeconds: number, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    const kept = this.#byTtl.get(ttlSeconds);
    if (kept !== undefined && performance.now() < kept.sharedUntilMs && kept.objects < LEASE_OBJECTS_MAX) {
      kept.objects++;
      return untilAborted(kept.id, signal);
    }
    const sharingSeconds = Math.min(SHARING_SECONDS_MAX, Math.floor(ttlSeconds * SHARING_PART_OF_TTL));
    const lease: Lease = {
      id: this.#grant(ttlSeconds + sharingSeconds + SLACK_SECONDS),
      sharedUntilMs: performance.now() + sharingSeconds * 1_000,
      objects: 1,
    };
    this.#dropOld();
    this.#byTtl.set(ttlSeconds, lease);
    lease.id.catch(() => {
      this.forget(ttlSeconds, lease);
    });
    return untilAborted(lease.id, signal);
  }

  /** Call it when the store does not know the lease. */
  forget(ttlSeconds: number, lease = this.#byTtl.get(ttlSeconds)): void {
    if (this.#byTtl.get(ttlSeconds) === lease) this.#byTtl.delete(ttlSeconds);
  }

  #dropOld(): void {
    if (this.#byTtl.size < KEPT_LEASES_MAX) return;
    const now = performance.now();
    for (const [ttl, lease] of this.#byTtl) {
      if (lease.sharedUntilMs <= now || this.#byTtl.size >= KEPT_LEASES_MAX) this.#byTtl.delete(ttl);
    }
  }

  /** Bounded by the call timeout only: the first caller may abort while others wait for the same lease. */
  async #grant(ttlSeconds: number): Promise<number> {
    const { signal } = new AbortController();
    for (let attempt = 1; ; attempt++) {
      const id = randomLeaseId();
      try {
        const request = { ttlSeconds, id };
        await this.#endpoints.call(METHODS.leaseGrant, request, { kind: 'repeatable', signal });
        return id;
      } catch (error) {
        if (!isTaken(error) || attempt >= GRANT_ATTEMPTS_MAX) throw error;
      }
    }
  }
}

/** Small enough to be exact as a number; the server's own ids are not. */
function randomLeaseId(): number {
  const bits = BigInt.asUintN(Number(LEASE_ID_BITS), randomBytes(8).readBigUInt64LE());
  return Number(bits) || 1;
}

function isTaken(error: unknown): boolean {
  if (!(error instanceof StorageError) || !(error.cause instanceof TransportError)) return false;
  return error.cause.code === STATUS.failedPrecondition && /lease already exists/.test(error.cause.details);
}

/** Whether a write was refused because its lease is gone; nothing was written then. */
export function isLeaseGone(error: unknown): boolean {
  if (!(error instanceof StorageError) || !(error.cause instanceof TransportError)) return false;
  return error.cause.code === STATUS.notFound && /requested lease not found/.test(error.cause.details);
}
