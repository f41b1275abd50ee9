import type { DerivedBudget, DerivedHolder } from './derived-budget';
import type { Entry, FrameWorker, ObjectEventType, Representation } from './entry';
import { withRevision } from './entry-codec';

/**
 * One change of one object: `previous` is absent for a creation, `current` for a deletion. Frames are encoded once per type and
 * representation and shared by all watchers.
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

  /** Without a budget no frames are cached: for events with a single reader. */
  constructor(change: Change, appliedAt: number, budget?: DerivedBudget) {
    this.revision = change.revision;
    this.current = change.current;
    this.previous = change.previous;
    this.appliedAt = appliedAt;
    this.#budget = budget;
  }

  /** The current state, or the last one of a deleted object. */
  get subject(): Entry {
    return (this.current ?? this.previous) as Entry;
  }

  /** The event type for a watcher with this selector; undefined if the event does not match. */
  typeFor(selects: (entry: Entry) => boolean): ObjectEventType | undefined {
    const isIn = this.current !== undefined && selects(this.current);
    const wasIn = this.previous !== undefined && selects(this.previous);
    if (isIn) return wasIn ? 'MODIFIED' : 'ADDED';
    return wasIn ? 'DELETED' : undefined;
  }

  /** The frame for catch-up: not cached if it contains the age of the object. */
  lateFrame(type: ObjectEventType, representation: Representation): Buffer {
    return representation.tellsAge === true
      ? this.#encode(type, representation)
      : this.frame(type, representation);
  }

  /** A DELETED frame carries the previous state with this event's revision. */
  frame(type: ObjectEventType, representation: Representation): Buffer {
    return (
      this.#sharedFrame(type, representation) ??
      this.#share(type, representation, this.#encode(type, representation))
    );
  }

  /** {@link frame}, or a promise of it if a worker encodes it. */
  frameBy(
    type: ObjectEventType,
    representation: Representation,
    frameWorker: FrameWorker,
  ): Buffer | Promise<Buffer> {
    const shared = this.#sharedFrame(type, representation);
    if (shared !== undefined) return shared;
    const made = frameWorker(type, this.#stateFor(type));
    if (made === undefined) return this.frame(type, representation);
    return made.then(
      (bytes) => this.#sharedFrame(type, representation) ?? this.#share(type, representation, bytes),
    );
  }

  /** {@link lateFrame}, or a promise of it if a worker encodes it. */
  lateFrameBy(
    type: ObjectEventType,
    representation: Representation,
    frameWorker: FrameWorker,
  ): Buffer | Promise<Buffer> {
    if (representation.tellsAge !== true) return this.frameBy(type, representation, frameWorker);
    return frameWorker(type, this.#stateFor(type)) ?? this.#encode(type, representation);
  }

  dropDerived(): void {
    this.#frames = [];
    this.#gone = undefined;
  }

  #sharedFrame(type: ObjectEventType, { id }: Representation): Buffer | undefined {
    for (const shared of this.#frames) {
      if (shared.type === type && shared.id === id) return shared.bytes;
    }
    return undefined;
  }

  #share(type: ObjectEventType, { id }: Representation, bytes: Buffer): Buffer {
    if (this.#budget === undefined) return bytes;
    this.#frames.push({ type, id, bytes });
    this.#budget.charge(this, bytes.length);
    return bytes;
  }

  #encode(type: ObjectEventType, representation: Representation): Buffer {
    return representation.frame(type, this.#stateFor(type));
  }

  #stateFor(type: ObjectEventType): Entry {
    const entry = type === 'DELETED' ? this.#lastState() : this.current;
    if (entry === undefined) throw new Error(`an event without the state that ${type} needs`);
    return entry;
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

/** At least one of the two states is defined. */
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
