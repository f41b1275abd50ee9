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
 * Cuts clients that do not take an answer of which everything is handed over to the connection: after one to two times the limit. Looking at
 * all of them now and then costs requests nothing, where a timer for each would.
 */
export class SlowReaders {
  readonly #options: SlowReadersOptions;
  /** Answers that were waiting to be taken when they were last looked at. */
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
