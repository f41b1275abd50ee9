import type { ObjectEventType } from '../state/entry';
import type { CacheEvent } from '../state/event';
import type { QueueBudget } from './queue-budget';
import { LINK_BYTES } from './queue-budget';

export interface HeldEvent {
  readonly event: CacheEvent;
  readonly type: ObjectEventType;
}

/** Events of one watcher, in order, of which the first waits for a frame that is made elsewhere, and the others for it. */
export class HeldEvents {
  readonly #budget: QueueBudget;
  readonly #events: HeldEvent[] = [];
  #keptBytes = 0;

  constructor(budget: QueueBudget) {
    this.#budget = budget;
  }

  get count(): number {
    return this.#events.length;
  }

  /** What they take in the budget if nobody else has them: the objects as they are stored. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  get first(): HeldEvent | undefined {
    return this.#events[0];
  }

  add(held: HeldEvent): void {
    const { subject } = held.event;
    this.#events.push(held);
    this.#keptBytes += subject.bytes.length + LINK_BYTES;
    this.#budget.hold(subject, subject.bytes.length);
  }

  removeFirst(): void {
    const held = this.#events.shift();
    if (held === undefined) return;
    const { subject } = held.event;
    this.#keptBytes -= subject.bytes.length + LINK_BYTES;
    this.#budget.release(subject, subject.bytes.length);
  }

  clear(): void {
    while (this.#events.length > 0) this.removeFirst();
  }
}
