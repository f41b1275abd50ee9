import type { CacheEvent } from './event';

export interface RingBounds {
  readonly windowMs: number;
  readonly eventsMax: number;
  /** Called for every dropped event, oldest first. */
  readonly dropped: (event: CacheEvent) => void;
  readonly budget: RingBudget;
}

/** Overhead of an event besides the bytes of its previous state. */
const EVENT_OVERHEAD_BYTES = 256;

/**
 * A ring buffer of the recent events of one resource, in order. Positions count events since its creation and stay valid. Events of one
 * revision are added and dropped together.
 */
export class Ring {
  readonly #bounds: RingBounds;
  #events: CacheEvent[] = [];
  /** Index in `#events` of the oldest event; dropped events before it are removed in batches. */
  #first = 0;
  /** The position of `#events[0]`. */
  #base = 0;
  #floor: number;
  #isFloorAnEvent = false;
  #bytes = 0;

  /** Starts empty: it will contain all events after `floor`. */
  constructor(floor: number, bounds: RingBounds) {
    this.#floor = floor;
    this.#bounds = bounds;
    bounds.budget.add(this);
  }

  /** The ring buffer contains all events after this revision. */
  get floor(): number {
    return this.#floor;
  }

  /** Whether this resource has an event at or after the floor, so that a watch of its prefix reaches the floor. */
  get isFloorVisible(): boolean {
    return this.#isFloorAnEvent || this.size > 0;
  }

  get size(): number {
    return this.#events.length - this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The position after the newest event. */
  get end(): number {
    return this.#base + this.#events.length;
  }

  get oldest(): CacheEvent | undefined {
    return this.#events[this.#first];
  }

  append(event: CacheEvent): void {
    this.#events.push(event);
    const bytes = costOf(event);
    this.#bytes += bytes;
    this.#bounds.budget.charge(bytes);
  }

  /** The event at a position; undefined if it was dropped or has not happened yet. */
  at(position: number): CacheEvent | undefined {
    const index = position - this.#base;
    return index < this.#first ? undefined : this.#events[index];
  }

  /** The position of the first event after `revision`, which must not be below the floor. */
  positionAfter(revision: number): number {
    let low = this.#first;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle]?.revision ?? Infinity) <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#base + low;
  }

  /** Drops events beyond the age and count bounds, but none of revision `before` or later. */
  trim(now: number, before = Infinity): void {
    const { windowMs, eventsMax } = this.#bounds;
    for (let { oldest } = this; oldest !== undefined; { oldest } = this) {
      if (this.size <= eventsMax && now - oldest.appliedAt <= windowMs) return;
      if (oldest.revision >= before) return;
      this.dropOldestRevision();
    }
  }

  dropOldestRevision(): void {
    const revision = this.oldest?.revision;
    if (revision === undefined) return;
    for (let { oldest } = this; oldest?.revision === revision; { oldest } = this) {
      this.#first += 1;
      const bytes = costOf(oldest);
      this.#bytes -= bytes;
      this.#bounds.budget.charge(-bytes);
      this.#bounds.dropped(oldest);
    }
    this.#floor = revision;
    this.#isFloorAnEvent = true;
    if (this.#first * 2 > this.#events.length && this.#first >= CUT_EVENTS_MIN) {
      this.#events = this.#events.slice(this.#first);
      this.#base += this.#first;
      this.#first = 0;
    }
  }

  /** Releases its bytes from the budget. The ring buffer must not be used afterwards. */
  close(): void {
    this.#bounds.budget.charge(-this.#bytes);
    this.#bounds.budget.remove(this);
    this.#bytes = 0;
  }
}

const CUT_EVENTS_MIN = 64;

function costOf(event: CacheEvent): number {
  return EVENT_OVERHEAD_BYTES + (event.previous?.bytes.length ?? 0);
}

/** The byte budget of all ring buffers. Beyond it the oldest events are dropped, regardless of their resource. */
export class RingBudget {
  readonly #bytesMax: number;
  readonly #rings = new Set<Ring>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(ring: Ring): void {
    this.#rings.add(ring);
  }

  remove(ring: Ring): void {
    this.#rings.delete(ring);
  }

  charge(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Must be called between revisions, so that the newest revision is never dropped in part. */
  enforce(): void {
    while (this.#bytes > this.#bytesMax) {
      let oldestRing: Ring | undefined;
      let oldestRevision = Infinity;
      for (const ring of this.#rings) {
        const revision = ring.oldest?.revision ?? Infinity;
        if (revision < oldestRevision) [oldestRing, oldestRevision] = [ring, revision];
      }
      if (oldestRing === undefined) return;
      oldestRing.dropOldestRevision();
    }
  }
}
