import { isInForce } from '../../../shared/api/changes';
import type { DurationHistogram } from '../../../shared/metrics/duration-histogram';
import type { MetricSet } from '../../../shared/metrics/metric-set';
import type { DroppedRequests } from '../../engine/request/overload';
import type { FlowControl } from '../../engine/fairness/fairness';
import type { FlowCounts } from '../../engine/fairness/flow-counts';
import type { LoopPressure } from '../../engine/fairness/loop-pressure';

/** The state of priority and fairness. */
export interface FlowReport {
  readonly control: FlowControl;
  readonly strain: Pick<LoopPressure, 'seatTimeFactor'>;
  /** Number of queued requests. */
  readonly inQueue: Readonly<Record<keyof DroppedRequests, number>>;
}

const LABELS = ['priority_level', 'flow_schema'] as const;

/** The second name is that of newer releases, which keep the first one for a while. */
const SEATS_OF_LEVELS = [
  'apiserver_flowcontrol_request_concurrency_limit',
  ...(isInForce('nominalSeats') ? (['apiserver_flowcontrol_nominal_limit_seats'] as const) : []),
] as const;

type FlowLabels = Readonly<Record<(typeof LABELS)[number], string>>;

/** Adds the state of flow control, under kube-apiserver's names. */
export function addFlowMetrics(metrics: MetricSet, { control, strain, inQueue }: FlowReport): void {
  addFlowCounters(metrics, control);
  addFlowHistograms(metrics, control);
  for (const name of SEATS_OF_LEVELS)
    metrics.gauge({
      name,
      help: 'The seats of each priority level.',
      labels: ['priority_level'],
      *read() {
        for (const { name: level, queues } of control.levels) {
          if (queues !== undefined) yield [{ priority_level: level }, queues.limits.seats];
        }
      },
    });
  metrics.gauge({
    name: 'apiserver_flowcontrol_seats_in_use',
    help: 'The seats of each priority level that are taken: expensive requests take several.',
    labels: ['priority_level'],
    *read() {
      for (const { name, queues } of control.levels) {
        if (queues !== undefined) yield [{ priority_level: name }, queues.executingSeats];
      }
    },
  });
  metrics.gauge({
    name: 'apiserver_flowcontrol_long_answers_stretch',
    help: 'How much longer than on an idle machine long answers keep their seats, from 1 to 8: the event loop comes late.',
    *read() {
      yield [{}, strain.seatTimeFactor];
    },
  });
  metrics.gauge({
    name: 'apiserver_current_inqueue_requests',
    help: 'Requests that wait for their turn.',
    labels: ['request_kind'],
    *read() {
      for (const [kind, count] of Object.entries(inQueue)) yield [{ request_kind: kind }, count];
    },
  });
}

function addFlowCounters(metrics: MetricSet, control: FlowControl): void {
  const gauges = { executing: 'executing', waiting: 'inqueue' } as const;
  for (const field of ['executing', 'waiting'] as const) {
    metrics.gauge({
      name: `apiserver_flowcontrol_current_${gauges[field]}_requests`,
      help: `Requests ${field} now.`,
      labels: LABELS,
      *read() {
        for (const counts of control.counts) yield [labelsOf(counts), counts[field]];
      },
    });
  }
  metrics.counter({
    name: 'apiserver_flowcontrol_dispatched_requests_total',
    help: 'Requests that were carried out, or are.',
    labels: LABELS,
    *read() {
      for (const counts of control.counts) yield [labelsOf(counts), counts.dispatched];
    },
  });
  metrics.counter({
    name: 'apiserver_flowcontrol_rejected_requests_total',
    help: 'Requests refused with 429, by reason.',
    labels: [...LABELS, 'reason'],
    *read() {
      for (const counts of control.counts) {
        for (const [reason, count] of counts.refused) yield [{ ...labelsOf(counts), reason }, count];
      }
    },
  });
}

function addFlowHistograms(metrics: MetricSet, control: FlowControl): void {
  const show = (name: string, help: string, of: (counts: FlowCounts) => DurationHistogram): void => {
    metrics.histogram({
      name: `apiserver_flowcontrol_${name}`,
      help,
      labels: LABELS,
      *read() {
        for (const counts of control.counts) yield [labelsOf(counts), of(counts)];
      },
    });
  };
  show(
    'request_execution_seconds',
    'The duration of requests, from their turn to their answer.',
    (counts) => counts.executions,
  );
  show(
    'request_queue_length_after_enqueue',
    'The length of its queue, as each request that waits finds it.',
    (counts) => counts.queueLengths,
  );
  metrics.histogram({
    name: 'apiserver_flowcontrol_request_wait_duration_seconds',
    help: 'How long requests waited for their turn, those that never waited left out.',
    labels: [...LABELS, 'execute'],
    *read() {
      for (const counts of control.counts) {
        const labels = labelsOf(counts);
        yield [{ ...labels, execute: 'true' }, counts.waits.executed];
        yield [{ ...labels, execute: 'false' }, counts.waits.refused];
      }
    },
  });
}

function labelsOf({ schema, level }: FlowCounts): FlowLabels {
  return { priority_level: level, flow_schema: schema };
}
