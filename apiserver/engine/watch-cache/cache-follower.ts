import { untilAborted } from '../../../shared/concurrency/abort';
import type { Entry } from './state/entry';
import type { ResourceCache } from './resource-cache';
import type { Ring } from './state/ring';
import { Slices } from '../../../shared/concurrency/slices';

export interface FollowerTarget {
  /** Drops everything; all current objects follow, each as a change. */
  reset(): void;
  /** The object below the key, or undefined once it is gone. */
  changed(key: string, current: Entry | undefined): void;
}

/**
 * Keeps a value that is derived from the objects of one resource in step with the cache. It pulls recent events from the ring buffer
 * before each use, so the derived value never lags the cache.
 */
export class CacheFollower {
  readonly #cache: ResourceCache;
  readonly #target: FollowerTarget;
  /** The ring buffer of the state seen last; each new state has its own. */
  #ring: Ring | undefined;
  #position = 0;
  #starts = 0;
  #preparation: Promise<void> | undefined;

  constructor(cache: ResourceCache, target: FollowerTarget) {
    this.#cache = cache;
    this.#target = target;
  }

  /** Whether `catchUp` applies recent changes only. False after a refill of the resource, when all objects must be replayed. */
  get isPrepared(): boolean {
    return this.#cache.isReady && !this.#mustStartOver();
  }

  /** Number of resets of the target. */
  get starts(): number {
    return this.#starts;
  }

  /**
   * Waits until the resource is filled. Replays all objects if the ring buffer lost events, in time slices that yield to the event loop;
   * `catchUp` would replay them in one step.
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

  /** Applies the changes since the last call. Returns whether there were any. */
  catchUp(): boolean {
    if (!this.#cache.isReady) return this.#forget();
    const { ring } = this.#cache;
    if (ring === this.#ring && ring.end === this.#position) return false;
    if (this.#mustStartOver()) this.#startOver(ring);
    else this.#follow(ring);
    this.#position = ring.end;
    return true;
  }

  /** Whether events were dropped from the ring buffer before they were applied. */
  #mustStartOver(): boolean {
    const { ring, isReady } = this.#cache;
    if (!isReady || (ring === this.#ring && ring.end === this.#position)) return false;
    return ring !== this.#ring || ring.at(this.#position) === undefined;
  }

  /** A refill delivers no events, so the target is reset. */
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

  /** Changes during the replay are events after `position`. Another reset during the replay supersedes this one. */
  async #startOverInSlices(): Promise<void> {
    const { ring } = this.#cache;
    const position = ring.end;
    const slices = new Slices();
    const start = this.#begin();
    // The replay is incomplete until its end.
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
