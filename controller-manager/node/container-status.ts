import type { Container, ContainerStatus, Pod } from '../../shared/api/types/core-v1';
import { defined } from '../../shared/defined';
import { formatTime, parseTime } from '../../shared/meta/time';
import type { ExitRule } from './pod-rules';

/** A container at a moment, and when its status changes next by itself. */
export interface Advanced {
  readonly status: ContainerStatus;
  /** Milliseconds since 1970; absent if nothing is due. */
  readonly dueAtMs?: number;
}

export interface ContainerRules {
  /** When the container may start for the first time, in milliseconds since 1970. */
  readonly startAtMs: number;
  readonly exit: ExitRule | undefined;
  readonly isReady: boolean;
  /** Whether it is started again after an exit with this code. */
  readonly restarts: (exitCode: number) => boolean;
}

/** The kubelet's waits between two restarts; the first restart does not wait. */
const RESTART_BACKOFF_INITIAL_MS = 10_000;
const RESTART_BACKOFF_MAX_MS = 300_000;
/** The exit code of a program that ends by SIGTERM. */
export const EXIT_CODE_TERMINATED = 143;
const SECOND_MS = 1_000;
const NOTHING_RUNS = 'stand-in://';

/** The status of a container that has not started. */
export function waitingStatus({ name, image = '' }: Container, reason: string): ContainerStatus {
  return {
    name,
    image,
    imageID: '',
    state: { waiting: { reason } },
    lastState: {},
    ready: false,
    started: false,
    restartCount: 0,
  };
}

/** Brings the status of a container to a moment: it starts, ends, waits after a failure and starts again, as its rules say. */
export function advanceContainer(
  pod: Pod,
  before: ContainerStatus,
  rules: ContainerRules,
  nowMs: number,
): Advanced {
  let status = before;
  for (;;) {
    const next = nextStep(pod, status, rules);
    if (next === undefined) return { status: withReadiness(status, rules) };
    if (next.atMs > nowMs) return { status: withReadiness(status, rules), dueAtMs: next.atMs };
    // A restart waits at least ten seconds but for the first one, so this ends.
    status = next.apply(nowMs);
  }
}

/** Returns the exit code of a container that has ended and does not start again; undefined for any other. */
export function finalExitCode(
  { state }: ContainerStatus,
  rules: Pick<ContainerRules, 'restarts'>,
): number | undefined {
  const { terminated } = state;
  return terminated === undefined || rules.restarts(terminated.exitCode) ? undefined : terminated.exitCode;
}

/** The status of a container that is stopped from outside; one that has ended stays as it is. */
export function stoppedStatus(status: ContainerStatus, exitCode: number, nowMs: number): ContainerStatus {
  const { terminated, running } = status.state;
  if (terminated !== undefined) return status;
  const finishedAt = formatTime(nowMs);
  const startedAt = running?.startedAt ?? finishedAt;
  return {
    ...status,
    ready: false,
    started: false,
    state: {
      terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', startedAt, finishedAt },
    },
  };
}

/** The status of a container whose image has changed to the given one: one that runs is stopped and starts again without a backoff. */
export function replacedStatus(
  pod: Pod,
  status: ContainerStatus,
  image: string,
  nowMs: number,
): ContainerStatus {
  const { running, terminated } = status.state;
  if (status.image === image || terminated !== undefined) return status;
  if (running === undefined) return { ...status, image };
  const lastState = stoppedStatus(status, EXIT_CODE_TERMINATED, nowMs).state;
  return started(pod, { ...status, image, lastState }, nowMs);
}

function nextStep(
  pod: Pod,
  status: ContainerStatus,
  rules: ContainerRules,
): { readonly atMs: number; readonly apply: (nowMs: number) => ContainerStatus } | undefined {
  const { state, lastState, restartCount } = status;
  const { running, terminated } = state;
  if (running !== undefined) {
    const { exit } = rules;
    if (exit === undefined) return undefined;
    const startedMs = msOf(running.startedAt);
    return { atMs: startedMs + exit.afterMs, apply: (nowMs) => ended(status, exit, nowMs) };
  }
  if (terminated !== undefined) {
    if (!rules.restarts(terminated.exitCode)) return undefined;
    const waitMs = backoffMs(restartCount);
    if (waitMs === 0)
      return { atMs: 0, apply: (nowMs) => started(pod, { ...status, lastState: state }, nowMs) };
    return { atMs: 0, apply: () => backingOff(pod, status, waitMs) };
  }
  const finished = lastState.terminated;
  const atMs = finished === undefined ? rules.startAtMs : msOf(finished.finishedAt) + backoffMs(restartCount);
  return { atMs, apply: (nowMs) => started(pod, status, nowMs) };
}

function started(pod: Pod, status: ContainerStatus, nowMs: number): ContainerStatus {
  const isRestart = status.lastState.terminated !== undefined;
  const restartCount = status.restartCount + (isRestart ? 1 : 0);
  return {
    ...status,
    state: { running: { startedAt: formatTime(nowMs) } },
    started: true,
    restartCount,
    containerID: `${NOTHING_RUNS}${pod.metadata.uid ?? ''}/${status.name}/${String(restartCount)}`,
  };
}

function ended(
  status: ContainerStatus,
  { exitCode, reason, message }: ExitRule,
  nowMs: number,
): ContainerStatus {
  const startedAt = status.state.running?.startedAt ?? null;
  const finishedAt = formatTime(nowMs);
  return {
    ...status,
    started: false,
    state: { terminated: { exitCode, reason, startedAt, finishedAt, ...defined({ message }) } },
  };
}

function backingOff({ metadata }: Pod, status: ContainerStatus, waitMs: number): ContainerStatus {
  const { name = '', namespace = '', uid = '' } = metadata;
  const wait = waitMs >= RESTART_BACKOFF_MAX_MS ? '5m0s' : goSeconds(waitMs);
  const message = `back-off ${wait} restarting failed container=${status.name} pod=${name}_${namespace}(${uid})`;
  return {
    ...status,
    started: false,
    state: { waiting: { reason: 'CrashLoopBackOff', message } },
    lastState: status.state,
  };
}

/** Formats whole seconds below five minutes as Go does: `40s`, `2m40s`. */
function goSeconds(ms: number): string {
  const seconds = ms / SECOND_MS;
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${String(seconds)}s` : `${String(minutes)}m${String(seconds % 60)}s`;
}

function backoffMs(restartCount: number): number {
  if (restartCount === 0) return 0;
  return Math.min(RESTART_BACKOFF_INITIAL_MS * 2 ** (restartCount - 1), RESTART_BACKOFF_MAX_MS);
}

function withReadiness(status: ContainerStatus, { isReady }: ContainerRules): ContainerStatus {
  const ready = isReady && status.state.running !== undefined;
  return status.ready === ready ? status : { ...status, ready };
}

function msOf(time: string | null | undefined): number {
  return parseTime(time ?? '') ?? 0;
}
