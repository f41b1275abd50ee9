import type { QueueBudget } from './queue-budget';
import type { ResourceWatches } from './resource-watches';

/** Ends the watchers with the longest queues until all queues together are no longer too large. */
export class QueueRelief {
  readonly #queues: QueueBudget;
  readonly #caches: () => readonly { readonly watches: ResourceWatches }[];
  #isDue = false;

  constructor(queues: QueueBudget, caches: () => readonly { readonly watches: ResourceWatches }[]) {
    this.#queues = queues;
    this.#caches = caches;
  }

  /** Not within the turn of whoever hands out events: those to whom they go must not change meanwhile. */
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
      // Whoever has less than its part is not why, and there is always one that has more.
      if (!this.#queues.isExceeded || bytes < fairBytes) return;
      watches.evict(watcher);
    }
  }
}
