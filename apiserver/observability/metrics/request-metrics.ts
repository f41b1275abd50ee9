import type { StatusError } from '../../../shared/errors/status-error';
import type { Answer, Exchange, Stage } from '../../exchange/exchange';
import type { RequestInfo } from '../../exchange/request-info';
import { DurationHistogram } from '../../../shared/metrics/duration-histogram';
import { wordTable } from '../../../shared/word-table';

/** The labels that kube-apiserver gives its request metrics. */
export interface RequestLabels {
  readonly verb: string;
  readonly dry_run: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: string;
  readonly component: string;
}

/** Everything that is counted of requests alike. */
export interface RequestSeries {
  readonly labels: RequestLabels;
  readonly byCode: Map<number, number>;
  readonly durations: DurationHistogram;
  /** Watches that are open now. */
  longRunning: number;
}

/** kube-apiserver's bounds in seconds, and below its smallest one those of answers from memory. */
const BOUNDS_SECONDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8,
  0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
/** Names come from paths, so their number is bounded; what comes later is counted together. */
const SERIES_MAX = 5_000;
const INTERNAL_ERROR = 500;

export interface RequestMetricsOptions {
  /** Whether the path names something that is served: other names become no labels. */
  readonly isServed: (info: RequestInfo) => boolean;
  /** What the client is told of an error. */
  readonly statusOf: (error: unknown, exchange: Exchange) => StatusError;
}

/** Counts and times requests. One object per process; reading it costs nothing to the requests. */
export class RequestMetrics {
  readonly #isServed: RequestMetricsOptions['isServed'];
  readonly #statusOf: RequestMetricsOptions['statusOf'];
  readonly #series = new Map<string, RequestSeries>();
  readonly #others = createSeries(labelsOf('other', undefined, ''));
  /** Requests under way, watches left out. */
  readonly inFlight = { mutating: 0, readOnly: 0 };

  constructor(options: RequestMetricsOptions) {
    this.#isServed = options.isServed;
    this.#statusOf = options.statusOf;
  }

  /**
   * A stage that stands directly behind the one that sets `info`. A request counts when its answer is decided; the time a streamed
   * answer takes to be read is its reader's.
   */
  readonly stage: Stage = async (exchange, next) => {
    const startedAt = performance.now();
    const isWatch = exchange.info.verb === 'watch';
    const kind = READ_METHODS.has(exchange.method) ? 'readOnly' : 'mutating';
    if (!isWatch) this.inFlight[kind] += 1;
    let code = INTERNAL_ERROR;
    try {
      await next();
      code = exchange.answer?.code ?? INTERNAL_ERROR;
    } catch (error) {
      ({ code } = this.#statusOf(error, exchange).status);
      throw error;
    } finally {
      if (!isWatch) this.inFlight[kind] -= 1;
      const series = this.#seriesOf(exchange);
      series.byCode.set(code, (series.byCode.get(code) ?? 0) + 1);
      if (!isWatch) series.durations.observe(performance.now() - startedAt);
      else if (isStream(exchange.answer)) countWhileOpen(series, exchange);
    }
  };

  /** All series so far. */
  *series(): IterableIterator<RequestSeries> {
    yield* this.#series.values();
    if (this.#others.byCode.size > 0) yield this.#others;
  }

  #seriesOf({ info, method, query, headers }: Exchange): RequestSeries {
    const verb = verbOf(info, method, headers['content-type']);
    // A read has none, whatever its query says.
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

const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const VERBS = wordTable<string>({
  list: 'LIST',
  watch: 'WATCH',
  deletecollection: 'DELETECOLLECTION',
});

function verbOf(info: RequestInfo, method: string, contentType: string | undefined): string {
  const special = info.isResourceRequest ? VERBS.get(info.verb) : undefined;
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
  return { labels, byCode: new Map(), durations: new DurationHistogram(BOUNDS_SECONDS), longRunning: 0 };
}

function isStream(answer: Answer | undefined): boolean {
  return answer !== undefined && !Buffer.isBuffer(answer.body);
}

function countWhileOpen(series: RequestSeries, exchange: Exchange): void {
  series.longRunning += 1;
  exchange.whenOver(() => {
    series.longRunning -= 1;
  });
}
