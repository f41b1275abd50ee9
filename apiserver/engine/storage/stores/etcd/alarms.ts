import { pause } from '../../../../../shared/concurrency/pause';
import { withTimeLimit } from '../../../../../shared/concurrency/time-limit';
import type { Log } from '../../../../../shared/log/log';
import type { EtcdStatus } from './status';

const LOOK_INTERVAL_MS = 5_000;
const LOOK_MS_MAX = 5_000;
/** The alarm in the words of a member's status: `memberID:9372538179322589801 alarm:NOSPACE`. */
const FULL = /alarm:NOSPACE/u;

const WHAT_TO_DO =
  'the etcd database is full (alarm NOSPACE): reads and deletions go on, other writes are refused; compact and defragment it, then disarm the alarm';

/** Knows whether etcd has raised the alarm that its database is full. Members share their alarms, so any of them tells. */
export class Alarms {
  readonly #status: (signal: AbortSignal) => Promise<EtcdStatus>;
  readonly #log: Log;
  #isFull = false;

  constructor(status: (signal: AbortSignal) => Promise<EtcdStatus>, log: Log) {
    this.#status = status;
    this.#log = log;
  }

  /** In words for an operator; undefined when there is no trouble, as far as is known. */
  trouble(): string | undefined {
    return this.#isFull ? WHAT_TO_DO : undefined;
  }

  /** Asks every few seconds until the signal aborts, and logs what changes. A member that does not answer changes nothing. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#take(await withTimeLimit(signal, LOOK_MS_MAX, this.#status));
      } catch {
        // Health checks tell of an etcd that does not answer.
      }
      await pause(LOOK_INTERVAL_MS, signal);
    }
  }

  #take({ errors, dbSizeBytes, dbSizeInUseBytes }: EtcdStatus): void {
    const isFull = errors.some((error) => FULL.test(error));
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    const sizes = { dbSizeBytes, dbSizeInUseBytes };
    if (isFull) this.#log.error(sizes, WHAT_TO_DO);
    else this.#log.info(sizes, 'etcd takes writes again: the alarm NOSPACE is disarmed');
  }
}
