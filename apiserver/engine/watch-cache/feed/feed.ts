import { sleep } from '../../../../shared/concurrency/abort';
import { Backoff } from '../../../../shared/concurrency/backoff';
import { pause } from '../../../../shared/concurrency/pause';
import type { Log } from '../../../../shared/log/log';
import type { Backend, Revision, StoredRecord } from '../../storage/backend';
import { StorageError } from '../../storage/backend';
import { fill, isPassing } from './fill';
import type { Delays } from '../../../../shared/metrics/duration-histogram';
import type { CacheLimits } from '../limits';
import { Slices } from '../../../../shared/concurrency/slices';
import type { Counters } from '../stats';

/** What the feed keeps up to date. */
export interface FeedTarget {
  /** The state is unknown from here on; everything known before is to be forgotten. */
  lost(why: string): void;
  /** A new state as of `revision` is about to be loaded. */
  begin(revision: number): void;
  load(record: StoredRecord): void;
  /** The state is complete. */
  filled(revision: number): void;
  /** Applies the next revision, whole. */
  apply(revision: Revision): void;
}

export interface FeedOptions {
  readonly backend: Backend;
  /** Absolute, with a trailing slash. */
  readonly prefix: string;
  readonly limits: CacheLimits;
  readonly log: Log;
  readonly counters: Counters;
  readonly delays: Delays;
  readonly target: FeedTarget;
}

/**
 * Fills the target from the store and then follows the one watch of the whole keyspace. Every revision of the store shows up in it, so
 * a missing one is noticed: the state is then thrown away and read again, as it is when the store lost the history the feed would
 * have to resume from, or turns out to be another one. A mere outage changes nothing; the feed resumes where it stood.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #backoff: Backoff;
  /** The newest revision applied; undefined while the state is unknown. */
  #applied: number | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#backoff = new Backoff({
      initialMs: options.limits.retryDelayMinMs,
      maxMs: options.limits.retryDelayMaxMs,
    });
  }

  /** The first fill. Waits outages out; throws what no waiting helps against, e.g. `denied`. */
  async start(signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        this.#applied = await this.#fill(signal);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof StorageError) || error.code !== 'compacted') throw error;
        await sleep(this.#backoff.next(), signal);
      }
    }
  }

  /** Follows until the signal aborts or the backend is closed. Never throws. */
  async follow(signal: AbortSignal): Promise<void> {
    const { counters, log, target } = this.#options;
    while (!signal.aborted) {
      try {
        this.#applied ??= await this.#fill(signal);
        await this.#watch(this.#applied, signal);
      } catch (error) {
        if (signal.aborted) return;
        counters.feedFailures += 1;
        if (error instanceof StorageError && error.code === 'closed') {
          log.error({ error }, 'store closed; the watch cache is no longer updated');
          return;
        }
        if (this.#applied !== undefined && meansLoss(error)) {
          counters.rebuilds += 1;
          this.#applied = undefined;
          log.error({ error }, 'watch cache may have missed events; rebuilding it');
          target.lost(error instanceof Error ? error.message : String(error));
        } else {
          log.warn({ error, revision: this.#applied }, 'watch of the store failed; retrying');
          await pause(this.#backoff.next(), signal);
        }
      }
    }
  }

  async #fill(signal: AbortSignal): Promise<number> {
    const { backend, prefix, limits, log, counters, target } = this.#options;
    const startedAt = performance.now();
    let records = 0;
    const slices = new Slices();
    const revision = await fill(
      {
        backend,
        prefix,
        pageRecords: limits.fillPageRecords,
        backoff: this.#backoff,
        log,
        begin: (at) => {
          target.begin(at);
        },
        load: async (page) => {
          for (const record of page) {
            target.load(record);
            if (slices.due()) await slices.pause();
          }
          records += page.length;
          counters.filledObjects += page.length;
        },
      },
      signal,
    );
    counters.fills += 1;
    target.filled(revision);
    const durationMs = Math.round(performance.now() - startedAt);
    log.info({ revision, records, durationMs }, 'watch cache initialized');
    return revision;
  }

  async #watch(from: number, signal: AbortSignal): Promise<void> {
    const { backend, counters, delays, target } = this.#options;
    // Everybody waits for what is in here.
    const slices = new Slices({ isUrgent: true });
    let applied = from;
    for await (const batch of backend.watch({ from: from + 1 }, signal)) {
      const arrivedAt = performance.now();
      for (const revision of batch) {
        if (revision.revision !== applied + 1) throw new GapError(applied, revision.revision);
        target.apply(revision);
        applied = revision.revision;
        this.#applied = applied;
        counters.revisions += 1;
        delays.inCache.observe(performance.now() - arrivedAt);
        if (slices.due()) await slices.pause();
      }
      this.#backoff.reset();
      if (signal.aborted) return;
    }
    if (!signal.aborted) throw new StorageError('unavailable', 'the watch of the store ended by itself');
  }
}

/** The store's revisions do not follow each other: something happened that the cache was not told. */
class GapError extends Error {
  constructor(applied: number, next: number) {
    super(`revision ${applied} was followed by ${next}`);
    this.name = 'GapError';
  }
}

/** Everything but an outage and a refusal, a defect in applying a revision included: the state cannot be trusted afterwards. */
function meansLoss(error: unknown): boolean {
  if (isPassing(error)) return false;
  return (
    !(error instanceof StorageError) ||
    error.code === 'compacted' ||
    error.code === 'reset' ||
    error.code === 'corrupt'
  );
}
