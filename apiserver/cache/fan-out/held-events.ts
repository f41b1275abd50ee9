import type { ObjectEventType } from '../state/entry';
import type { CacheEvent } from '../state/event';

export interface HeldEvent {
  readonly event: CacheEvent;
  readonly type: ObjectEventType;
}

/** Events of one watcher, in order, of which the first waits for a frame that is made elsewhere, and the others for it. */
export class HeldEvents {
  readonly #events: HeldEvent[] = [];
  #byteLength = 0;

  get count(): number {
    return this.#events.length;
  }

  /** Of the objects as they are stored. */
  get byteLength(): number {
    return this.#byteLength;
  }

  get first(): HeldEvent | undefined {
    return this.#events[0];
  }

  add(held: HeldEvent): void {
    this.#events.push(held);
    this.#byteLength += held.event.subject.bytes.length;
  }

  removeFirst(): void {
    const held = this.#events.shift();
    this.#byteLength -= held?.event.subject.bytes.length ?? 0;
  }
}
