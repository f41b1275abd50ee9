import type { QueueBudget } from './queue-budget';
import type { ResourceWatches } from './resource-watches';

/** Evicts the watchers with the longest queues until all queues together are within the budget (backpressure). */
export class QueueRelief {
  readonly #queues: QueueBudget;
  readonly #caches: () => readonly { readonly watches: ResourceWatches }[];
  #isDue = false;

  constructor(queues: QueueBudget, caches: () => readonly { readonly watches: ResourceWatches }[]) {
    this.#queues = queues;
    this.#caches = caches;
  }

  /** Runs in a microtask: the set of watchers must not change during a dispatch. */
  begin(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#relieve();
    });
  }

  #relieve(): void {
    const all = this.#caches().flatMap(({ watches }) =>
      watches.holders().map((watcher) => ({ watches, watcher, bytes: watcher.queuedBytes })),
    );
    all.sort((a, b) => b.bytes - a.bytes);
    const fairBytes = this.#queues.bytesMax / all.length;
    for (const { watches, watcher, bytes } of all) {
      // A queue below its fair share is not the cause, and at least one queue is above it.
      if (!this.#queues.isExceeded || bytes < fairBytes) return;
      watches.evict(watcher);
    }
  }
}
