import { linkedAbort } from '../../../shared/concurrency/linked-abort';
import { pause } from '../../../shared/concurrency/pause';
import type { CacheListener, ResourceCache } from './resource-cache';

/** How long that loop rests at least, in milliseconds, however much changes. */
const REST_MS = 20;

/** Wakes the one loop that keeps something in step with a few resources. How often they have changed meanwhile does not matter. */
export class ChangeSignal implements CacheListener {
  #isDue = false;
  #wake: (() => void) | undefined;

  /** Lives as long as the caches. */
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

  /** Rests, and then waits for `ms`, or less if something has changed since the last wait, or the signal aborts. */
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
