import type { AdmissionOperation } from '../../../engine/registry/admission';
import type { TakenDurations } from '../../../../shared/metrics/duration-histogram';
import { DurationHistogram } from '../../../../shared/metrics/duration-histogram';
import type { Taken } from '../../../../shared/metrics/taken';
import { takeDurations, takeTimes } from '../../../../shared/metrics/taken';
import type { WebhookReport } from './call';
import type { WebhookType } from './webhook';

/** Why a webhook failed a request: it could not be called, an internal error, or a refusal. */
export type RejectionCause = 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error';

export interface WebhookDecision {
  readonly name: string;
  readonly type: WebhookType;
  readonly operation: AdmissionOperation;
}

export interface Rejection {
  readonly cause: RejectionCause;
  /** The HTTP code of the answer; 0 without one. */
  readonly code: number;
}

export type Labels = Readonly<Record<string, string>>;

/** The bucket bounds of kube-apiserver, in seconds. */
const BOUNDS_SECONDS: readonly number[] = [0.005, 0.025, 0.1, 0.5, 2.5];
const CODE_MAX = 600;
/** Bound of series per kind: names come from configurations. */
const SERIES_MAX = 1_000;
/** Upstream's names of the phases. */
const PHASE = { mutating: 'admit', validating: 'validating' } as const;

/** The counts of another thread, as data. */
export interface TakenWebhookCounts {
  readonly durations: Taken<TakenDurations>;
  readonly rejections: Taken<number>;
  readonly ignored: Taken<number>;
}

/** Counts webhook calls and decisions. */
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

  /** Counts a request that continued without the webhook. */
  ignored({ name, type }: Pick<WebhookDecision, 'name' | 'type'>): void {
    count(this.#ignored, { name, type: PHASE[type] });
  }

  /** Returns and resets the counts since the last call. */
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

  /** Adds another source of reports. */
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

  /** Returns the webhooks that were called. */
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

/** Returns undefined for a new series beyond the limit. */
function seriesOf<T>(series: Map<string, T>, labels: Labels, create: () => T): T | undefined {
  const key = Object.values(labels).join(' ');
  const known = series.get(key);
  if (known !== undefined || series.size >= SERIES_MAX) return known;
  const made = create();
  series.set(key, made);
  return made;
}
