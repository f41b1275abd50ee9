import type { MetricSet } from '../../../shared/metrics/metric-set';
import type { LoopLag } from '../../../shared/concurrency/loop-lag';
import type { StepTimes } from '../../../shared/concurrency/long-steps';
import type { DroppedRequests } from '../../engine/request/overload';

/** The state of the process's event loop. */
export interface LoopReport {
  readonly lag: Pick<LoopLag, 'isLate'>;
  readonly dropped: Readonly<DroppedRequests>;
  readonly steps: Pick<StepTimes, 'longSteps'>;
}

/** Adds slow steps and the delay of the event loop, and the requests that were rejected for it. */
export function addOverloadMetrics(metrics: MetricSet, { lag, dropped, steps }: LoopReport): void {
  metrics.counter({
    name: 'apiserver_dropped_requests_total',
    help: 'Requests refused with 429 because the event loop was late, or by flow control.',
    labels: ['request_kind'],
    *read() {
      for (const [kind, count] of Object.entries(dropped)) yield [{ request_kind: kind }, count];
    },
  });
  metrics.gauge({
    name: 'apiserver_loop_late',
    help: 'Whether the event loop is late by its own work (1), so that expensive requests are refused.',
    *read() {
      yield [{}, Number(lag.isLate)];
    },
  });
  metrics.histogram({
    name: 'apiserver_loop_turn_seconds',
    help: 'For how long single steps of a millisecond or more held the event loop, by stage.',
    labels: ['stage'],
    *read() {
      for (const { stage, durations } of steps.longSteps()) yield [{ stage }, durations];
    },
  });
  metrics.gauge({
    name: 'apiserver_loop_turn_longest_seconds',
    help: 'The longest step of the last five to ten minutes, by stage.',
    labels: ['stage'],
    *read() {
      for (const { stage, longestMs } of steps.longSteps()) yield [{ stage }, longestMs / MS_PER_SECOND];
    },
  });
}

const MS_PER_SECOND = 1_000;
