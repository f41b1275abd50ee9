import { SlowReaderError } from '../request/slow-reader-error';
import type { ConnectionCounts } from './connection-counts';
import type { InFlight } from './request-handler';
import type { WireResponse } from './wire';

export interface SlowReadersOptions {
  readonly inFlight: InFlight;
  readonly stallMsMax: number;
  readonly counts: Pick<ConnectionCounts, 'slowReaders'>;
}

/**
 * Disconnects slow readers: clients that do not read a complete answer for one to two times the limit. A periodic
 * scan of all answers costs requests nothing; a timer for each would.
 */
export class SlowReaders {
  readonly #options: SlowReadersOptions;
  /** Answers that were unread at the last scan. */
  #waiting = new WeakSet<WireResponse>();
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(options: SlowReadersOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#look();
    }, this.#options.stallMsMax).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { inFlight, counts } = this.#options;
    const waiting = new WeakSet<WireResponse>();
    for (const [response, exchange] of inFlight) {
      if (!response.writableEnded || response.writableFinished) continue;
      waiting.add(response);
      if (!this.#waiting.has(response)) continue;
      counts.slowReaders += 1;
      exchange.abort(new SlowReaderError());
      response.destroy();
    }
    this.#waiting = waiting;
  }
}
