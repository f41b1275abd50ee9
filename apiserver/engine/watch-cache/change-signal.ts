import { linkedAbort } from '../../../shared/concurrency/linked-abort';
import { pause } from '../../../shared/concurrency/pause';
import type { CacheListener, ResourceCache } from './resource-cache';

/** Minimum pause of the loop between two rounds. */
const REST_MS = 20;

/** Wakes one reconciling loop when any of several resources changes. Changes between two waits are coalesced. */
export class ChangeSignal implements CacheListener {
  #isDue = false;
  #wake: (() => void) | undefined;

  /** Never unsubscribes: it has the lifetime of the caches. */
  constructor(caches: readonly ResourceCache[]) {
    for (const cache of caches) cache.follow(this);
  }

  changed(): void {
    this.#isDue = true;
    this.#wake?.();
  }

  filled(): void {
    this.changed();
  }

  /** Pauses for the minimum, then waits up to `ms` for a change. Returns early when the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    await pause(REST_MS, signal);
    if (!this.#isDue) {
      const waiting = linkedAbort(signal);
      this.#wake = () => waiting.abort(new Error('something has changed'));
      await pause(ms, waiting.signal);
      waiting.unlink();
      this.#wake = undefined;
    }
    this.#isDue = false;
  }
}
