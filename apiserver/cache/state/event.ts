import type { DerivedBudget, DerivedHolder } from './derived-budget';
import type { Entry, Representation } from './entry';
import { withRevision } from './entry-codec';

export type ObjectEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * One change of one object: `previous` is absent for a creation, `current` for a deletion. Frames are made once per type and
 * representation and shared by every watcher.
 */
export class CacheEvent implements DerivedHolder {
  readonly revision: number;
  readonly current: Entry | undefined;
  readonly previous: Entry | undefined;
  /** Milliseconds since the epoch at which the cache applied it. */
  readonly appliedAt: number;
  readonly #budget: DerivedBudget | undefined;
  #frames: SharedFrame[] = [];
  #gone: Entry | undefined;

  /** Without a budget nothing is kept: for events that a single reader sees. */
  constructor(change: Change, appliedAt: number, budget?: DerivedBudget) {
    this.revision = change.revision;
    this.current = change.current;
    this.previous = change.previous;
    this.appliedAt = appliedAt;
    this.#budget = budget;
  }

  /** The entry that tells whose event this is. */
  get subject(): Entry {
    return (this.current ?? this.previous) as Entry;
  }

  /** What this event is to a reader who selects with `selects`; undefined when it is none of his business. */
  typeFor(selects: (entry: Entry) => boolean): ObjectEventType | undefined {
    const isIn = this.current !== undefined && selects(this.current);
    const wasIn = this.previous !== undefined && selects(this.previous);
    if (isIn) return wasIn ? 'MODIFIED' : 'ADDED';
    return wasIn ? 'DELETED' : undefined;
  }

  /** The frame for a reader to whom this is no news. */
  lateFrame(type: ObjectEventType, representation: Representation): Buffer {
    return representation.tellsAge === true
      ? this.#encode(type, representation)
      : this.frame(type, representation);
  }

  /** A DELETED frame carries the previous state with this event's revision. */
  frame(type: ObjectEventType, representation: Representation): Buffer {
    for (const shared of this.#frames) {
      if (shared.type === type && shared.id === representation.id) return shared.bytes;
    }
    const bytes = this.#encode(type, representation);
    if (this.#budget !== undefined) {
      this.#frames.push({ type, id: representation.id, bytes });
      this.#budget.charge(this, bytes.length);
    }
    return bytes;
  }

  dropDerived(): void {
    this.#frames = [];
    this.#gone = undefined;
  }

  #encode(type: ObjectEventType, representation: Representation): Buffer {
    const entry = type === 'DELETED' ? this.#lastState() : this.current;
    if (entry === undefined) throw new Error(`an event without the state that ${type} needs`);
    return representation.frame(type, entry);
  }

  #lastState(): Entry | undefined {
    if (this.#gone !== undefined || this.previous === undefined) return this.#gone;
    const gone = withRevision(this.previous, this.revision);
    if (this.#budget !== undefined) {
      this.#gone = gone;
      this.#budget.charge(this, gone.bytes.length);
    }
    return gone;
  }
}

/** At least one of the two states is there. */
export interface Change {
  readonly revision: number;
  readonly current: Entry | undefined;
  readonly previous: Entry | undefined;
}

interface SharedFrame {
  readonly type: ObjectEventType;
  readonly id: string;
  readonly bytes: Buffer;
}
