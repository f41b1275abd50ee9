import { sleep } from '../../../../shared/concurrency/abort';
import { Backoff } from '../../../../shared/concurrency/backoff';
import { pause } from '../../../../shared/concurrency/pause';
import type { Log } from '../../../../shared/log/log';
import type { Backend, Revision, StoredRecord } from '../../storage/backend';
import { StorageError } from '../../storage/backend';
import { fill, isTransient } from './fill';
import type { Delays } from '../../../../shared/metrics/duration-histogram';
import type { CacheLimits } from '../limits';
import { Slices } from '../../../../shared/concurrency/slices';
import type { Counters } from '../stats';

/** The receiver of the feed. */
export interface FeedTarget {
  /** The state can no longer be trusted: the target discards it. */
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
 * A reflector: fills the target from the store, then follows one watch of the whole keyspace. The watch reports every revision, so a gap is
 * detected. After a gap, after a compaction of the needed history, or when the store was replaced, the state is discarded and read again.
 * After an outage the feed resumes from the last applied revision.
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

  /** The first fill. Retries during outages; throws permanent errors, e.g. `denied`. */
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
        if (this.#applied !== undefined && invalidatesState(error)) {
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
    // Urgent: all watchers and readers wait for these events.
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

/** A revision is missing in the watch of the store. */
class GapError extends Error {
  constructor(applied: number, next: number) {
    super(`revision ${applied} was followed by ${next}`);
    this.name = 'GapError';
  }
}

/** Whether the state can no longer be trusted: after any error except an outage or a refusal, including defects in applying a revision. */
function invalidatesState(error: unknown): boolean {
  if (isTransient(error)) return false;
  return (
    !(error instanceof StorageError) ||
    error.code === 'compacted' ||
    error.code === 'reset' ||
    error.code === 'corrupt'
  );
}
