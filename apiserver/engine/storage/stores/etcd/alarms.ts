import { pause } from '../../../../../shared/concurrency/pause';
import { withTimeLimit } from '../../../../../shared/concurrency/time-limit';
import type { Log } from '../../../../../shared/log/log';
import type { EtcdStatus } from './status';

const LOOK_INTERVAL_MS = 5_000;
const LOOK_MS_MAX = 5_000;
/** The alarm in a member's status: `memberID:9372538179322589801 alarm:NOSPACE`. */
const FULL = /alarm:NOSPACE/u;

const WHAT_TO_DO =
  'the etcd database is full (alarm NOSPACE): reads and deletions continue, other writes are refused; compact and defragment it, then disarm the alarm';

/** Tracks the NOSPACE alarm of etcd. Members share their alarms, so one member is polled. */
export class Alarms {
  readonly #status: (signal: AbortSignal) => Promise<EtcdStatus>;
  readonly #log: Log;
  #isFull = false;

  constructor(status: (signal: AbortSignal) => Promise<EtcdStatus>, log: Log) {
    this.#status = status;
    this.#log = log;
  }

  /** The problem as a message for the operator; undefined if none is known. */
  trouble(): string | undefined {
    return this.#isFull ? WHAT_TO_DO : undefined;
  }

  /** Polls until the signal aborts, and logs changes. Keeps the last state while the member does not answer. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#take(await withTimeLimit(signal, LOOK_MS_MAX, this.#status));
      } catch {
        // Health checks report an etcd that does not answer.
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
