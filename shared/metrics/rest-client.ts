import { exponentialBounds } from './buckets';
import type { TakenDurations } from './duration-histogram';
import { DurationHistogram } from './duration-histogram';
import type { Labels, MetricSet } from './metric-set';
import type { Taken } from './taken';
import { takeDurations, takeTimes } from './taken';

/** Called for each request of a client: `code` is 0 without a response. */
export type RequestObserver = (method: string, code: number, ms: number) => void;

/** Those of client-go. */
const BOUNDS_SECONDS = exponentialBounds(0.001, 2, 10);
/**
 * Bounds the servers, of which webhook configurations may add ever new ones; further ones are not counted. A latency takes a dozen lines.
 */
const CODES_MAX = 200;
const LATENCIES_MAX = 100;

interface Counted {
  readonly labels: Labels;
  times: number;
}

interface Timed {
  readonly labels: Labels;
  readonly durations: DurationHistogram;
}

/** The counts of another thread, as data. */
export interface TakenRequests {
  readonly codes: Taken<number>;
  readonly latencies: Taken<TakenDurations>;
}

/** Counts the requests of clients, and says which addresses they may reach. */
export class ClientRequests {
  /** Undefined: all. */
  readonly allows: ((address: string) => boolean) | undefined;
  readonly #codes = new Map<string, Counted>();
  readonly #latencies = new Map<string, Timed>();

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
      this.#count({ code, method, host }, 1);
      this.#durationsOf({ verb: method, url })?.observe(ms);
    };
  }

  /** Returns and resets the counts since the last call. */
  take(): TakenRequests {
    return { codes: takeTimes(this.#codes.values()), latencies: takeDurations(this.#latencies.values()) };
  }

  add({ codes, latencies }: TakenRequests): void {
    for (const [labels, times] of codes) this.#count(labels, times);
    for (const [labels, taken] of latencies) this.#durationsOf(labels)?.add(taken);
  }

  #count(labels: Labels, times: number): void {
    const counted = seriesOf(this.#codes, keyOf(labels), CODES_MAX, () => ({ labels, times: 0 }));
    if (counted !== undefined) counted.times += times;
  }

  #durationsOf(labels: Labels): DurationHistogram | undefined {
    const create = (): Timed => ({ labels, durations: new DurationHistogram(BOUNDS_SECONDS) });
    return seriesOf(this.#latencies, keyOf(labels), LATENCIES_MAX, create)?.durations;
  }

  codes(): Iterable<Readonly<Counted>> {
    return this.#codes.values();
  }

  latencies(): Iterable<Timed> {
    return this.#latencies.values();
  }
}

function keyOf(labels: Labels): string {
  return Object.values(labels).join(' ');
}

/** Undefined when there are too many. */
function seriesOf<Series>(
  all: Map<string, Series>,
  key: string,
  max: number,
  create: () => Series,
): Series | undefined {
  const known = all.get(key);
  if (known !== undefined || all.size >= max) return known;
  const made = create();
  all.set(key, made);
  return made;
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
