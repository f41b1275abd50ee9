import { Backoff } from '../../../../shared/concurrency/backoff';
import { linkedAbort } from '../../../../shared/concurrency/linked-abort';
import { pause } from '../../../../shared/concurrency/pause';
import type { StoreEvent } from '../../storage/backend';
import { fill } from './fill';
import type { ResourceCache } from '../resource-cache';
import { Slices } from '../../../../shared/concurrency/slices';

interface HeldEvent {
  readonly key: string;
  readonly event: StoreEvent;
  readonly revision: number;
}

/** After more changes than this during one fill, it restarts at a later revision. */
const HELD_EVENTS_MAX = 100_000;

/**
 * Fills one resource while the feed continues: reads the state at the current revision of the cache, buffers the later events of the feed
 * meanwhile, applies them, and then lets the feed apply events directly. The resource becomes ready at that point, at a whole revision.
 */
export class ResourceFill {
  readonly #cache: ResourceCache;
  readonly #done: () => void;
  readonly #stop = new AbortController();
  #held: HeldEvent[] = [];
  #hasOverflowed = false;

  /** `done` is called in the same step in which the resource becomes ready. */
  constructor(cache: ResourceCache, done: () => void) {
    this.#cache = cache;
    this.#done = done;
  }

  cancel(): void {
    this.#stop.abort();
  }

  hold(key: string, event: StoreEvent, revision: number): void {
    if (this.#held.length < HELD_EVENTS_MAX) this.#held.push({ key, event, revision });
    else this.#hasOverflowed = true;
  }

  /** Retries until it succeeds or is cancelled. */
  async run(shutdownSignal: AbortSignal | undefined): Promise<void> {
    const { signal, unlink } = linkedAbort(
      this.#stop.signal,
      ...(shutdownSignal === undefined ? [] : [shutdownSignal]),
    );
    try {
      await this.#run(signal);
    } finally {
      unlink();
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { log, limits } = this.#cache.services;
    const backoff = new Backoff({ initialMs: limits.retryDelayMinMs, maxMs: limits.retryDelayMaxMs });
    while (!signal.aborted) {
      try {
        await this.#fill(backoff, signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.warn(
          { resource: this.#cache.resource.name, error },
          'failed to fill the watch cache of a resource; retrying',
        );
        await pause(backoff.next(), signal);
      }
    }
  }

  async #fill(backoff: Backoff, signal: AbortSignal): Promise<void> {
    const cache = this.#cache;
    const { backend, prefix, limits, log, counters } = cache.services;
    const revision = cache.owner.revision();
    this.#held = [];
    this.#hasOverflowed = false;
    cache.beginFill(revision);
    const slices = new Slices();
    const absolute = `${prefix}/${cache.resource.keyPrefix}`;
    await fill(
      {
        backend,
        prefix: absolute,
        revision,
        pageRecords: limits.fillPageRecords,
        backoff,
        log,
        begin: () => undefined,
        load: async (records) => {
          for (const record of records) {
            cache.load(record.key.slice(absolute.length), record);
            if (!slices.due()) continue;
            await slices.pause();
            // Another fill may have started meanwhile; it must not get these records.
            signal.throwIfAborted();
          }
          counters.filledObjects += records.length;
        },
      },
      signal,
    );
    await this.#finish(signal);
  }

  /**
   * Applies the buffered events. `done` is called in the same step as the last one: an event of the feed between the two would be buffered
   * and lost.
   */
  async #finish(signal: AbortSignal): Promise<void> {
    const slices = new Slices();
    signal.throwIfAborted();
    for (let at = 0; at < this.#held.length; at += 1) {
      const held = this.#held[at];
      if (held !== undefined) this.#cache.apply(held.key, held.event, held.revision);
      if (!slices.due()) continue;
      await slices.pause();
      signal.throwIfAborted();
    }
    if (this.#hasOverflowed) throw new Error(`more than ${HELD_EVENTS_MAX} changes came during the fill`);
    this.#done();
    this.#cache.endFill();
  }
}
