import { exponentialBounds } from './buckets';
import type { TakenDurations } from './duration-histogram';
import { LabelledCounts, LabelledDurations } from './labelled-series';
import type { MetricSet } from './metric-set';
import type { Counted, Taken, Timed } from './taken';

/** Called for each request of a client: `code` is 0 without a response. */
export type RequestObserver = (method: string, code: number, ms: number) => void;

/** Those of client-go. */
const BOUNDS_SECONDS = exponentialBounds(0.001, 2, 10);
/**
 * Bounds the servers, of which webhook configurations may add ever new ones; further ones are not counted. A latency takes a dozen lines.
 */
const CODES_MAX = 200;
const LATENCIES_MAX = 100;

/** The counts of another thread, as data. */
export interface TakenRequests {
  readonly codes: Taken<number>;
  readonly latencies: Taken<TakenDurations>;
}

/** Counts the requests of clients, and says which addresses they may reach. */
export class ClientRequests {
  /** Undefined: all. */
  readonly allows: ((address: string) => boolean) | undefined;
  readonly #codes = new LabelledCounts(CODES_MAX);
  readonly #latencies = new LabelledDurations(BOUNDS_SECONDS, LATENCIES_MAX);

  constructor(allows?: (address: string) => boolean) {
    this.allows = allows;
  }

  /** Counts for the clients of one server, which is given as a URL. */
  observerOf(server: string): RequestObserver {
    const { host, origin } = new URL(server);
    // The form of v1.21, which has no names of objects in it.
    const url = `${origin}/%7Bprefix%7D`;
    return (method, answered, ms) => {
      const code = answered === 0 ? '<error>' : String(answered);
      this.#codes.count({ code, method, host });
      this.#latencies.observe({ verb: method, url }, ms);
    };
  }

  /** Returns and resets the counts since the last call. */
  take(): TakenRequests {
    return { codes: this.#codes.take(), latencies: this.#latencies.take() };
  }

  add({ codes, latencies }: TakenRequests): void {
    this.#codes.add(codes);
    this.#latencies.add(latencies);
  }

  codes(): Iterable<Readonly<Counted>> {
    return this.#codes.values();
  }

  latencies(): Iterable<Timed> {
    return this.#latencies.values();
  }
}

/** Shows what was counted under the names by which client-go tells of its own requests. */
export function addRestClientMetrics(metrics: MetricSet, requests: ClientRequests): void {
  metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests of this program to other servers by code, method and host; the code is <error> where there was no response.',
    labels: ['code', 'method', 'host'],
    *read() {
      for (const { labels, times } of requests.codes()) yield [labels, times];
    },
  });
  metrics.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'The latency of requests of this program to other servers by verb and URL; of a watch until its response begins.',
    labels: ['verb', 'url'],
    *read() {
      for (const { labels, durations } of requests.latencies()) yield [labels, durations];
    },
  });
}
