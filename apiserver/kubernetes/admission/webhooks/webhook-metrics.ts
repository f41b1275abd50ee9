import type { AdmissionOperation } from '../../../engine/registry/admission';
import type { TakenDurations } from '../../../../shared/metrics/duration-histogram';
import { LabelledCounts, LabelledDurations } from '../../../../shared/metrics/labelled-series';
import type { Counted, Taken, Timed } from '../../../../shared/metrics/taken';
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
  readonly #durations = new LabelledDurations(BOUNDS_SECONDS, SERIES_MAX);
  readonly #rejections = new LabelledCounts(SERIES_MAX);
  readonly #ignored = new LabelledCounts(SERIES_MAX);
  readonly #readers: (() => readonly WebhookReport[])[] = [];

  observe({ name, type, operation }: WebhookDecision, ms: number, rejection: Rejection | undefined): void {
    const labels = { name, type: PHASE[type], operation };
    this.#durations.observe({ ...labels, rejected: String(rejection !== undefined) }, ms);
    if (rejection === undefined) return;
    const code = String(Math.min(rejection.code, CODE_MAX));
    this.#rejections.count({ ...labels, error_type: rejection.cause, rejection_code: code });
  }

  /** Counts a request that continued without the webhook. */
  ignored({ name, type }: Pick<WebhookDecision, 'name' | 'type'>): void {
    this.#ignored.count({ name, type: PHASE[type] });
  }

  /** Returns and resets the counts since the last call. */
  take(): TakenWebhookCounts {
    return {
      durations: this.#durations.take(),
      rejections: this.#rejections.take(),
      ignored: this.#ignored.take(),
    };
  }

  add({ durations, rejections, ignored }: TakenWebhookCounts): void {
    this.#durations.add(durations);
    this.#rejections.add(rejections);
    this.#ignored.add(ignored);
  }

  /** Adds another source of reports. */
  read(reports: () => readonly WebhookReport[]): void {
    this.#readers.push(reports);
  }

  durations(): Iterable<Timed> {
    return this.#durations.values();
  }

  rejections(): Iterable<Readonly<Counted>> {
    return this.#rejections.values();
  }

  ignoredFailures(): Iterable<Readonly<Counted>> {
    return this.#ignored.values();
  }

  /** Returns the webhooks that were called. */
  reports(): readonly WebhookReport[] {
    return this.#readers.flatMap((reports) => reports());
  }
}
