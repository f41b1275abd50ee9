import type { QueueBudget } from './queue-budget';
import type { ResourceWatches } from './resource-watches';
import type { Watcher } from './watcher';

/**
 * Evicts watchers until all queues together are within the budget (backpressure): the longest queues of the holder
 * with the most. The queues of a holder below its fair share are kept, however many watches others have.
 */
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
    const holders = this.#queuesByHolder();
    const fairBytes = this.#queues.bytesMax / holders.length;
    for (const { queues, bytes } of holders) {
      let left = bytes;
      for (const { watches, watcher } of queues) {
        // At least one holder is above its fair share.
        if (!this.#queues.isExceeded || left < fairBytes) break;
        left -= watcher.queuedBytes;
        watches.evict(watcher);
      }
    }
  }

  /** The holder with the most bytes first, and of each its longest queue. */
  #queuesByHolder(): HolderQueues[] {
    const byHolder = new Map<string, HolderQueues>();
    for (const { watches } of this.#caches()) {
      for (const watcher of watches.holders()) {
        if (watcher.queuedBytes === 0) continue;
        const { holder = '' } = watcher.request;
        const of = byHolder.get(holder) ?? { queues: [], bytes: 0 };
        of.queues.push({ watches, watcher });
        of.bytes += watcher.queuedBytes;
        byHolder.set(holder, of);
      }
    }
    for (const { queues } of byHolder.values())
      queues.sort((a, b) => b.watcher.queuedBytes - a.watcher.queuedBytes);
    return [...byHolder.values()].sort((a, b) => b.bytes - a.bytes);
  }
}

interface HolderQueues {
  readonly queues: { readonly watches: ResourceWatches; readonly watcher: Watcher }[];
  bytes: number;
}
