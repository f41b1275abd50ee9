import type { Snapshot } from './snapshot';

export interface SnapshotOwner {
  /** Bytes of entries that left the tree and the ring buffer since the creation of the cache. */
  readonly departedBytes: number;
}

interface Retained {
  readonly owner: SnapshotOwner;
  readonly snapshot: Snapshot;
  /** The oldest revision with the same state. */
  readonly validFrom: number;
  readonly departedBytesThen: number;
  readonly retainedAt: number;
}

/**
 * Snapshots retained for later pages of a list. The budget counts an upper bound: the bytes that left the cache since the oldest snapshot.
 * The oldest snapshot is evicted first.
 */
export class SnapshotBudget {
  readonly #bytesMax: number;
  readonly #ageMaxMs: number;
  /** Oldest first. */
  #retained: Retained[] = [];

  constructor(limits: { readonly bytesMax: number; readonly ageMaxMs: number }) {
    this.#bytesMax = limits.bytesMax;
    this.#ageMaxMs = limits.ageMaxMs;
  }

  get bytes(): number {
    const oldestOf = new Map<SnapshotOwner, number>();
    for (const kept of this.#retained) {
      if (!oldestOf.has(kept.owner)) {
        oldestOf.set(kept.owner, kept.owner.departedBytes - kept.departedBytesThen);
      }
    }
    return [...oldestOf.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  retain(owner: SnapshotOwner, kept: { snapshot: Snapshot; validFrom: number; now: number }): void {
    const { snapshot, validFrom, now } = kept;
    if (this.find(owner, snapshot.revision) !== undefined) return;
    const departedBytesThen = owner.departedBytes;
    this.#retained.push({ owner, snapshot, validFrom, departedBytesThen, retainedAt: now });
    this.enforce(now);
  }

  /** A retained snapshot with the state of `revision`. */
  find(owner: SnapshotOwner, revision: number): Snapshot | undefined {
    const found = this.#retained.findLast(
      (kept) => kept.owner === owner && kept.validFrom <= revision && revision <= kept.snapshot.revision,
    );
    return found?.snapshot;
  }

  forget(owner: SnapshotOwner): void {
    this.#retained = this.#retained.filter((kept) => kept.owner !== owner);
  }

  enforce(now: number): void {
    const isFresh = (kept: Retained): boolean => now - kept.retainedAt <= this.#ageMaxMs;
    if (!this.#retained.every(isFresh)) this.#retained = this.#retained.filter(isFresh);
    while (
      this.#retained.length > SNAPSHOTS_MAX ||
      (this.#retained.length > 0 && this.bytes > this.#bytesMax)
    ) {
      this.#retained.shift();
    }
  }
}

/** Bounded in number, because each one also keeps the inner nodes of its tree. */
const SNAPSHOTS_MAX = 256;
