import { performance } from 'node:perf_hooks';
import type { Status, StatusError } from '../../../../shared/errors/status-error';
import type { Answer, Exchange, Stage } from '../../request/exchange';
import { isClientGone } from '../../request/initial-values';
import { isLongRunning } from '../../request/long-running';
import type { RequestInfo } from '../../request/request-info';
import { exponentialBounds, ValueHistogram } from '../../../../shared/metrics/buckets';
import { DurationHistogram } from '../../../../shared/metrics/duration-histogram';
import { FilterTimes } from './filter-times';
import { ownKeyMap } from '../../../../shared/own-key-map';

/** The labels of kube-apiserver’s request metrics. It is a type alias because only those can be read as a record. */
export type RequestLabels = {
  readonly verb: string;
  readonly dry_run: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: string;
  readonly component: string;
};

export type CodeLabels = RequestLabels & { readonly code: string };

/** Requests with one code. The labels stay the same object, so that they are formatted once. */
export interface CodeCount {
  readonly labels: CodeLabels;
  times: number;
}

/** The counters of one series of labels. */
export interface RequestSeries {
  readonly labels: RequestLabels;
  readonly byCode: Map<number, CodeCount>;
  readonly durations: DurationHistogram;
  /** Bytes of answers to reads; absent before the first one. */
  sizes?: ValueHistogram;
  /** Watches, logs and connections that are open. */
  longRunning: number;
  /** Answers that the server aborted. */
  aborts: number;
}

/** kube-apiserver’s bounds in seconds, and smaller ones for answers from memory. */
const BOUNDS_SECONDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8,
  0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
/** Names come from paths, so their number is bounded; later ones are counted together. */
const SERIES_MAX = 5_000;
const INTERNAL_ERROR = 500;
const SIZE_BOUNDS_BYTES = exponentialBounds(1_000, 10, 7);

export interface RequestMetricsOptions {
  /** Returns whether the resource of the path is served: other names do not become labels. */
  readonly isServed: (info: RequestInfo) => boolean;
  /** Converts an error to the one that the client sees. */
  readonly statusOf: (error: unknown, exchange: Exchange) => StatusError;
}

/** Counts and measures requests. One object per server; reading it costs requests nothing. */
export class RequestMetrics {
  readonly #isServed: RequestMetricsOptions['isServed'];
  readonly #statusOf: RequestMetricsOptions['statusOf'];
  readonly #series = new Map<string, RequestSeries>();
  readonly #others = createSeries(labelsOf('other', undefined, ''));
  readonly #terminated = new Map<string, CodeCount>();
  readonly filters = new FilterTimes();
  /** Requests in flight, without long-running ones. */
  readonly inFlight = { mutating: 0, readOnly: 0 };

  constructor(options: RequestMetricsOptions) {
    this.#isServed = options.isServed;
    this.#statusOf = options.statusOf;
  }

  /**
   * The stage directly after the one that sets `info`. A request is counted when its answer is decided, a watch when
   * it ends. The time that a client takes to read a streamed answer is not included.
   */
  readonly stage: Stage = async (exchange, next) => {
    const startedAt = performance.now();
    const isLong = isLongRunning(exchange.info);
    const kind = READ_METHODS.has(exchange.method) ? 'readOnly' : 'mutating';
    if (!isLong) this.inFlight[kind] += 1;
    let code = INTERNAL_ERROR;
    let isDefence = false;
    try {
      await next();
      code = exchange.answer?.code ?? INTERNAL_ERROR;
    } catch (error) {
      const { status } = this.#statusOf(error, exchange);
      ({ code } = status);
      isDefence = isSelfDefence(status);
      throw error;
    } finally {
      if (!isLong) this.inFlight[kind] -= 1;
      const series = this.#seriesOf(exchange);
      if (isDefence) this.#countTerminated(series, code);
      const over = (): void => {
        countIn(series.byCode, code, () => ({ ...series.labels, code: String(code) }));
        series.durations.observe(performance.now() - startedAt);
      };
      if (isStream(exchange.answer)) countAborts(series, exchange);
      if (isLong && isStream(exchange.answer)) countWhileOpen(series, exchange, over);
      else {
        over();
        if (SIZED_VERBS.has(series.labels.verb)) measureAnswer(series, exchange);
      }
    }
  };

  /** Returns all series. */
  *series(): IterableIterator<RequestSeries> {
    yield* this.#series.values();
    if (this.#others.byCode.size > 0 || this.#others.longRunning > 0) yield this.#others;
  }

  /** Returns the requests that the server terminated in self-defence, dry runs included. */
  terminated(): Iterable<CodeCount> {
    return this.#terminated.values();
  }

  #countTerminated({ labels }: RequestSeries, code: number): void {
    const all = { ...labels, dry_run: '', code: String(code) };
    countIn(this.#terminated, Object.values(all).join(' '), () => all);
  }

  #seriesOf({ info, method, query, headers }: Exchange): RequestSeries {
    const verb = verbOf(info, method, headers['content-type']);
    // Reads have no dry run, whatever the query says.
    const dryRun = verb === 'GET' || verb === 'LIST' || verb === 'WATCH' ? '' : (query.get('dryRun') ?? '');
    const scope = scopeOf(info);
    const key = `${verb} ${dryRun} ${info.apiGroup} ${info.apiVersion} ${info.resource} ${info.subresource} ${scope}`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= SERIES_MAX || (dryRun !== '' && dryRun !== 'All')) return this.#others;
    if (info.isResourceRequest && !this.#isServed(info)) return this.#others;
    const made = createSeries({ ...labelsOf(verb, info, scope), dry_run: dryRun });
    this.#series.set(key, made);
    return made;
  }
}

const GATEWAY_TIMEOUT = 504;
const TOO_MANY_REQUESTS = 429;
const SIZED_VERBS: ReadonlySet<string> = new Set(['GET', 'LIST']);
const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Subresources that connect to other servers, for every method. */
const CONNECTS: ReadonlySet<string> = new Set(['attach', 'exec', 'portforward', 'proxy']);
const VERBS = ownKeyMap<string>({
  list: 'LIST',
  watch: 'WATCH',
  deletecollection: 'DELETECOLLECTION',
});

function verbOf(info: RequestInfo, method: string, contentType: string | undefined): string {
  const special = info.isResourceRequest ? VERBS.get(info.verb) : undefined;
  if (info.isResourceRequest && CONNECTS.has(info.subresource)) return 'CONNECT';
  if (special !== undefined) return special;
  if (method === 'PATCH' && contentType?.startsWith('application/apply-patch') === true) return 'APPLY';
  if (method === 'HEAD') return 'GET';
  return METHODS.has(method) ? method : 'other';
}

function scopeOf({ name, namespace, isResourceRequest }: RequestInfo): string {
  if (!isResourceRequest) return '';
  if (name !== '') return 'resource';
  return namespace === '' ? 'cluster' : 'namespace';
}

function labelsOf(verb: string, info: RequestInfo | undefined, scope: string): RequestLabels {
  return {
    verb,
    dry_run: '',
    group: info?.apiGroup ?? '',
    version: info?.apiVersion ?? '',
    resource: info?.resource ?? '',
    subresource: info?.subresource ?? '',
    scope,
    component: 'apiserver',
  };
}

function createSeries(labels: RequestLabels): RequestSeries {
  return {
    labels,
    byCode: new Map(),
    durations: new DurationHistogram(BOUNDS_SECONDS),
    longRunning: 0,
    aborts: 0,
  };
}

function countIn<Key>(counts: Map<Key, CodeCount>, key: Key, labels: () => CodeLabels): void {
  const known = counts.get(key);
  if (known === undefined) counts.set(key, { labels: labels(), times: 1 });
  else known.times += 1;
}

/** Returns whether the deadline passed or a server is overloaded; false for disruption budgets and quotas. */
function isSelfDefence({ code, details }: Status): boolean {
  if (code === GATEWAY_TIMEOUT) return true;
  return code === TOO_MANY_REQUESTS && (details?.retryAfterSeconds ?? 0) > 0 && details?.causes === undefined;
}

function isStream(answer: Answer | undefined): boolean {
  return answer !== undefined && (answer.tunnel !== undefined || !Buffer.isBuffer(answer.body));
}

function countWhileOpen(series: RequestSeries, exchange: Exchange, over: () => void): void {
  series.longRunning += 1;
  exchange.whenOver(() => {
    series.longRunning -= 1;
    over();
  });
}

/** Counts answers that were aborted: the client sees the connection end before the answer. */
function countAborts(series: RequestSeries, exchange: Exchange): void {
  exchange.whenOver(() => {
    if (exchange.signal.aborted && !isClientGone(exchange)) series.aborts += 1;
  });
}

function measureAnswer(series: RequestSeries, exchange: Exchange): void {
  const { answer } = exchange;
  if (answer === undefined) return;
  series.sizes ??= new ValueHistogram(SIZE_BOUNDS_BYTES);
  const { body } = answer;
  if (Buffer.isBuffer(body)) series.sizes.observe(body.length);
  else exchange.answer = { ...answer, body: measured(body, series.sizes) };
}

async function* measured(body: AsyncIterable<Buffer>, sizes: ValueHistogram): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const piece of body) {
      bytes += piece.length;
      yield piece;
    }
  } finally {
    sizes.observe(bytes);
  }
}
