#!/usr/bin/env node
import { readBuild } from '../../shared/build';
import { createClient } from '../../shared/client/client';
import { loadKubeconfig } from '../../shared/client/kubeconfig';
import type { FlagValues } from '../../shared/flags/flag-row';
import { DurationHistogram } from '../../shared/metrics/duration-histogram';
import { METRIC_FLAGS, metricChoice, metricProblems } from '../../shared/metrics/metric-choice';
import { dialect, USER } from '../../shared/names';
import { runAsLeader } from '../run';
import type { Started } from '../runtime/program';
import { EXIT, runProgram } from '../runtime/program';
import {
  API_LEVEL_FLAG,
  DIALECT_FLAG,
  electionFlags,
  electionOf,
  electionProblems,
  LOG_FLAGS,
} from '../runtime/program-flags';
import type { ClientMetrics } from '../runtime/serving/metrics';
import { createMetrics } from '../runtime/serving/metrics';
import { SERVING_FLAGS, servingProblems } from '../runtime/serving/serving-flags';
import { openStatusListener } from '../runtime/serving/status-listener';
import type { AttemptObserver, AttemptResult } from './scheduler';
import { DEFAULT_SCHEDULER, runScheduler } from './scheduler';
import type { QueuePart } from './scheduling-queue';
import { SchedulingQueue } from './scheduling-queue';

const PROGRAM = 'orch-scheduler';
const SUMMARY =
  "Places pods on nodes: a scheduler for development and tests. It neither preempts pods nor binds volumes; Kubernetes' own scheduler works in its place.";
const KUBE_SCHEDULER_PORT = 10_259;

/** The flags, with the names and defaults of kube-scheduler v1.21 where it has them. */
const FLAGS = [
  {
    name: 'kubeconfig',
    type: 'string',
    default: '',
    group: 'Generic',
    help: 'Path of the kubeconfig file with the address of the API server and the credentials of this process.',
  },
  DIALECT_FLAG,
  API_LEVEL_FLAG,
  {
    name: 'scheduler-name',
    type: 'string',
    default: DEFAULT_SCHEDULER,
    group: 'Generic',
    help: 'Pods with this schedulerName are placed.',
  },
  {
    name: 'pod-initial-backoff',
    type: 'duration',
    default: '1s',
    group: 'Generic',
    help: 'The wait after the first attempt to place a pod that failed; doubled after each further one.',
  },
  {
    name: 'pod-max-backoff',
    type: 'duration',
    default: '10s',
    group: 'Generic',
    help: 'The longest wait after an attempt to place a pod that failed.',
  },
  ...SERVING_FLAGS.map((flag) =>
    flag.name === 'secure-port' ? { ...flag, default: KUBE_SCHEDULER_PORT } : flag,
  ),
  ...METRIC_FLAGS,
  ...electionFlags(USER.scheduler.replace(/^system:/, '')),
  ...LOG_FLAGS,
] as const;

type Values = FlagValues<typeof FLAGS>;

runProgram({
  name: PROGRAM,
  summary: SUMMARY,
  flags: FLAGS,
  check: (values) => ({
    problems: [
      ...(values.kubeconfig === '' ? ['--kubeconfig is required'] : []),
      ...(values.podInitialBackoffMs > 0 ? [] : ['--pod-initial-backoff must be more than 0']),
      ...(values.podMaxBackoffMs >= values.podInitialBackoffMs
        ? []
        : ['--pod-max-backoff must not be shorter than --pod-initial-backoff']),
      ...servingProblems(values),
      ...metricProblems(values),
      ...electionProblems(values),
    ],
  }),
  run,
});

async function run({ values, given, log, signal }: Started<Values>): Promise<number> {
  const metrics = createMetrics({ process: true, build: readBuild(), choice: metricChoice(values) });
  const server = loadKubeconfig({ path: values.kubeconfig }).client;
  const client = createClient({
    ...server,
    log,
    userAgent: PROGRAM,
    observe: metrics.observerOf(server.server),
    outage: { isReported: false },
  });
  const isPortGiven = given.has('secure-port');
  const listener = await openStatusListener(values, { client, metrics, log, isPortGiven });
  const queue = new SchedulingQueue({
    backoffInitialMs: values.podInitialBackoffMs,
    backoffMaxMs: values.podMaxBackoffMs,
  });
  const observe = addSchedulerMetrics(metrics, queue);
  log.info({ server: server.server, dialect }, `starting ${PROGRAM}`);
  try {
    const election = electionOf(values);
    const end = await runAsLeader(
      { client, log, metrics, election },
      async (leading) =>
        runScheduler({ client, log, schedulerName: values.schedulerName, queue, observe }, leading),
      signal,
    );
    if (end === 'lost') log.error({}, 'leader election lost; exiting');
    else log.info({}, 'stopped');
    return end === 'lost' ? EXIT.failure : EXIT.ok;
  } finally {
    listener?.close();
    client.close();
  }
}

const ATTEMPT_BOUNDS_SECONDS = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);
const PARTS: readonly QueuePart[] = ['active', 'backoff', 'unschedulable'];

/** Adds the metrics of the scheduler, with upstream's names; returns what counts an attempt. */
function addSchedulerMetrics({ set }: ClientMetrics, queue: SchedulingQueue): AttemptObserver {
  const attempts = new Map<AttemptResult, DurationHistogram>();
  const labels = ['result'];
  set.counter({
    name: 'scheduler_schedule_attempts_total',
    help: 'Number of attempts to schedule pods, by the result.',
    labels,
    *read() {
      for (const [result, { count }] of attempts) yield [{ result }, count];
    },
  });
  set.histogram({
    name: 'scheduler_scheduling_attempt_duration_seconds',
    help: 'Duration of an attempt to schedule a pod, binding included, in seconds.',
    labels,
    *read() {
      for (const [result, durations] of attempts) yield [{ result }, durations];
    },
  });
  set.gauge({
    name: 'scheduler_pending_pods',
    help: 'Number of pods that wait for a node, by the part of the queue.',
    labels: ['queue'],
    *read() {
      const counts = queue.counts();
      for (const part of PARTS) yield [{ queue: part }, counts[part]];
    },
  });
  return (result, durationMs) => {
    const durations = attempts.get(result) ?? new DurationHistogram(ATTEMPT_BOUNDS_SECONDS);
    attempts.set(result, durations);
    durations.observe(durationMs);
  };
}
