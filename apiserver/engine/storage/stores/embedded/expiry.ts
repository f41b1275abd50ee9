import type { Clock } from '../../../../../shared/concurrency/clock';
import type { Log } from '../../../../../shared/log/log';
import type { CommitQueue } from './commit-queue';
import type { StoreState } from './store-state';

export interface ExpiryOptions {
  readonly state: StoreState;
  readonly commits: CommitQueue;
  readonly clock: Clock;
  readonly log: Log;
}

/** Deletes records whose time has come, each by a conditional delete like any other writer's, so that a renewal in between wins. */
export class Expiry {
  readonly #options: ExpiryOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(options: ExpiryOptions) {
    this.#options = options;
  }

  /** Sets the timer for the next expiry; call it whenever a record with a time to live was written. */
  arm(): void {
    const { state, clock } = this.#options;
    const nextAt = state.index.nextExpiryAt();
    if (
      nextAt === undefined ||
      state.isClosed ||
      state.failure !== undefined ||
      this.#timer !== undefined ||
      this.#running !== undefined
    )
      return;
    // A bounded wait, because the clock may be set and a shorter time to live may come in between.
    const waitMs = Math.min(Math.max(nextAt - clock.now(), 1), WAIT_MS_MAX);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#running = this.#expire().finally(() => {
        this.#running = undefined;
        this.arm();
      });
    }, waitMs);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#running;
  }

  async #expire(): Promise<void> {
    const { state, commits, clock, log } = this.#options;
    const expired = state.index.expired(clock.now(), EXPIRIES_PER_GROUP_MAX);
    const outcomes = await Promise.allSettled(
      expired.map(async ({ key, revision }) =>
        commits.submit({ type: 'delete', key, expected: revision, value: undefined }),
      ),
    );
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined && !state.isClosed) {
      log.warn({ error: failed.reason as unknown }, 'failed to delete expired records; retrying');
    }
  }
}

const WAIT_MS_MAX = 1000;
const EXPIRIES_PER_GROUP_MAX = 256;
