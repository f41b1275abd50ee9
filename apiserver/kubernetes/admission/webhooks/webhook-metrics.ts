import type { AdmissionOperation } from '../../../engine/registry/admission';
import type { TakenDurations } from '../../../../shared/metrics/duration-histogram';
import { DurationHistogram } from '../../../../shared/metrics/duration-histogram';
import type { Taken } from '../../../../shared/metrics/taken';
import { takeDurations, takeTimes } from '../../../../shared/metrics/taken';
import type { WebhookReport } from './call';
import type { WebhookType } from './webhook';

/** Why a webhook made a request fail: it could not be asked, something went wrong here, or it said no. */
export type RejectionCause = 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error';

export interface WebhookDecision {
  readonly name: string;
  readonly type: WebhookType;
  readonly operation: AdmissionOperation;
}

export interface Rejection {
  readonly cause: RejectionCause;
  /** The HTTP code of what the webhook answered; 0 where it did not. */
  readonly code: number;
}

export type Labels = Readonly<Record<string, string>>;

/** kube-apiserver's bounds in seconds. */
const BOUNDS_SECONDS: readonly number[] = [0.005, 0.025, 0.1, 0.5, 2.5];
const CODE_MAX = 600;
/** Series of each kind: names come from configurations, of which there may be ever new ones. */
const SERIES_MAX = 1_000;
/** What upstream calls the phases. */
const PHASE = { mutating: 'admit', validating: 'validating' } as const;

/** What another thread has counted, as data. */
export interface TakenWebhookCounts {
  readonly durations: Taken<TakenDurations>;
  readonly rejections: Taken<number>;
  readonly ignored: Taken<number>;
}

/** Counts what webhooks did. */
export class WebhookMetrics {
  readonly #durations = new Map<string, { readonly labels: Labels; readonly durations: DurationHistogram }>();
  readonly #rejections = new Map<string, Counted>();
  readonly #ignored = new Map<string, Counted>();
  readonly #readers: (() => readonly WebhookReport[])[] = [];

  observe({ name, type, operation }: WebhookDecision, ms: number, rejection: Rejection | undefined): void {
    const labels = { name, type: PHASE[type], operation };
    const timed = { ...labels, rejected: String(rejection !== undefined) };
    this.#durationsOf(timed)?.observe(ms);
    if (rejection === undefined) return;
    const code = String(Math.min(rejection.code, CODE_MAX));
    count(this.#rejections, { ...labels, error_type: rejection.cause, rejection_code: code });
  }

  /** A request went on without the webhook. */
  ignored({ name, type }: Pick<WebhookDecision, 'name' | 'type'>): void {
    count(this.#ignored, { name, type: PHASE[type] });
  }

  /** What was counted since this was called last. */
  take(): TakenWebhookCounts {
    return {
      durations: takeDurations(this.#durations.values()),
      rejections: takeTimes(this.#rejections.values()),
      ignored: takeTimes(this.#ignored.values()),
    };
  }

  add({ durations, rejections, ignored }: TakenWebhookCounts): void {
    for (const [labels, taken] of durations) this.#durationsOf(labels)?.add(taken);
    for (const [labels, times] of rejections) count(this.#rejections, labels, times);
    for (const [labels, times] of ignored) count(this.#ignored, labels, times);
  }

  #durationsOf(labels: Labels): DurationHistogram | undefined {
    const create = (): { labels: Labels; durations: DurationHistogram } => ({
      labels,
      durations: new DurationHistogram(BOUNDS_SECONDS),
    });
    return seriesOf(this.#durations, labels, create)?.durations;
  }

  /** Adds webhooks that are asked from elsewhere than before. */
  read(reports: () => readonly WebhookReport[]): void {
    this.#readers.push(reports);
  }

  durations(): Iterable<{ readonly labels: Labels; readonly durations: DurationHistogram }> {
    return this.#durations.values();
  }

  rejections(): Iterable<Counted> {
    return this.#rejections.values();
  }

  ignoredFailures(): Iterable<Counted> {
    return this.#ignored.values();
  }

  /** The webhooks that have been asked. */
  reports(): readonly WebhookReport[] {
    return this.#readers.flatMap((reports) => reports());
  }
}

export interface Counted {
  readonly labels: Labels;
  times: number;
}

function count(series: Map<string, Counted>, labels: Labels, more = 1): void {
  const counted = seriesOf(series, labels, () => ({ labels, times: 0 }));
  if (counted !== undefined) counted.times += more;
}

/** Undefined for a new one where there are too many. */
function seriesOf<T>(series: Map<string, T>, labels: Labels, create: () => T): T | undefined {
  const key = Object.values(labels).join(' ');
  const known = series.get(key);
  if (known !== undefined || series.size >= SERIES_MAX) return known;
  const made = create();
  series.set(key, made);
  return made;
}
