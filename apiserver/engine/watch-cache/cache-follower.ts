import { untilAborted } from '../../../shared/concurrency/abort';
import type { Entry } from './state/entry';
import type { ResourceCache } from './resource-cache';
import type { Ring } from './state/ring';
import { Slices } from '../../../shared/concurrency/slices';

export interface FollowerTarget {
  /** Forgets everything; all current objects follow, each as a change. */
  reset(): void;
  /** The object below the key, or undefined once it is gone. */
  changed(key: string, current: Entry | undefined): void;
}

/**
 * Brings something that is derived from the objects of one resource up to date, change by change. It asks rather than being told: the
 * recent events are in the cache anyway, and who asks before each use is never behind the cache.
 */
export class CacheFollower {
  readonly #cache: ResourceCache;
  readonly #target: FollowerTarget;
  /** The events of the state that was seen last; another state has another ring. */
  #ring: Ring | undefined;
  #position = 0;
  #starts = 0;
  #preparation: Promise<void> | undefined;

  constructor(cache: ResourceCache, target: FollowerTarget) {
    this.#cache = cache;
    this.#target = target;
  }

  /** Whether `catchUp` is a matter of what has changed: not while the objects are being read anew, or were. */
  get isPrepared(): boolean {
    return this.#cache.isReady && !this.#mustStartOver();
  }

  /** How often everything was forgotten. */
  get starts(): number {
    return this.#starts;
  }

  /**
   * Waits for the objects, and hands all of them over where not all that has changed is known any more, in slices that let others work
   * between them; `catchUp` would do the same at once.
   */
  async whenPrepared(signal: AbortSignal): Promise<void> {
    while (!this.isPrepared) {
      await this.#cache.whenReady(signal);
      if (this.isPrepared) return;
      this.#preparation ??= this.#startOverInSlices().finally(() => {
        this.#preparation = undefined;
      });
      await untilAborted(this.#preparation, signal);
    }
  }

  /** Hands over what has changed since the last call, and tells whether that is anything. Costs next to nothing when it is not. */
  catchUp(): boolean {
    if (!this.#cache.isReady) return this.#forget();
    const { ring } = this.#cache;
    if (ring === this.#ring && ring.end === this.#position) return false;
    if (this.#mustStartOver()) this.#startOver(ring);
    else this.#follow(ring);
    this.#position = ring.end;
    return true;
  }

  /** Without the oldest of the events that are missing, only the state itself tells. */
  #mustStartOver(): boolean {
    const { ring, isReady } = this.#cache;
    if (!isReady || (ring === this.#ring && ring.end === this.#position)) return false;
    return ring !== this.#ring || ring.at(this.#position) === undefined;
  }

  /** What is being read anew comes without events. */
  #forget(): boolean {
    if (this.#ring === undefined && this.#preparation === undefined) return false;
    this.#ring = undefined;
    this.#begin();
    return true;
  }

  #startOver(ring: Ring): void {
    this.#begin();
    for (const entry of this.#cache.snapshot().entries()) this.#target.changed(entry.key, entry);
    this.#ring = ring;
  }

  /** What happens meanwhile is an event behind the position. Whatever begins anew in between has the last word. */
  async #startOverInSlices(): Promise<void> {
    const { ring } = this.#cache;
    const position = ring.end;
    const slices = new Slices();
    const start = this.#begin();
    // Until the end, nothing that was seen is complete.
    this.#ring = undefined;
    for (const entry of this.#cache.snapshot().entries()) {
      this.#target.changed(entry.key, entry);
      if (slices.due()) await slices.pause();
      if (this.#starts !== start) return;
    }
    this.#ring = ring;
    this.#position = position;
  }

  #begin(): number {
    this.#target.reset();
    this.#starts += 1;
    return this.#starts;
  }

  #follow(ring: Ring): void {
    for (let at = this.#position; at < ring.end; at += 1) {
      const event = ring.at(at);
      if (event !== undefined) this.#target.changed(event.subject.key, event.current);
    }
  }
}
