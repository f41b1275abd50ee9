import type {
  Container,
  ContainerStatus,
  Pod,
  PodCondition,
  PodStatus,
} from '../../shared/api/types/core-v1';
import { defined } from '../../shared/defined';
import { formatTime, parseTime } from '../../shared/meta/time';
import type { ContainerRules } from './container-status';
import {
  advanceContainer,
  EXIT_CODE_TERMINATED,
  finalExitCode,
  replacedStatus,
  stoppedStatus,
  waitingStatus,
} from './container-status';
import { delayOf, exitOf, initExitOf, isReadyByRule } from './pod-rules';

export interface PodPlace {
  readonly hostIP: string;
  readonly podIP: string;
}

/** The status of a pod at a moment, and when it changes next by itself. */
export interface PodAdvance {
  readonly status: PodStatus;
  /** Milliseconds since 1970; absent if nothing is due. */
  readonly dueAtMs?: number;
}

const SECOND_MS = 1_000;
const DEADLINE = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const;

/** Reports whether a pod has ended for good. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Returns when a pod is created on its node by its rules, in milliseconds since 1970. */
export function createdAtMs(pod: Pod): number {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.lastTransitionTime;
  return (parseTime(scheduled ?? pod.metadata.creationTimestamp ?? '') ?? 0) + delayOf(pod, 'pod-create');
}

/** Brings the status of a pod to a moment. A pod that has ended stays as it is. */
export function advancePod(pod: Pod, { hostIP, podIP }: PodPlace, nowMs: number): PodAdvance {
  const before = pod.status ?? {};
  const { startTime = formatTime(nowMs) } = before;
  const { activeDeadlineSeconds } = pod.spec;
  const deadlineMs =
    activeDeadlineSeconds === undefined
      ? undefined
      : (parseTime(startTime) ?? nowMs) + Number(activeDeadlineSeconds) * SECOND_MS;
  const placed = { ...before, ...observed(pod), startTime, hostIP, podIP, podIPs: [{ ip: podIP }] };
  const init = advanceInit(pod, nowMs, startTime);
  const main = advanceMain(pod, init, nowMs);
  const isOverdue = deadlineMs !== undefined && nowMs >= deadlineMs && main.phase !== 'Succeeded';
  const status: PodStatus = {
    ...placed,
    phase: main.phase,
    ...(init.statuses.length > 0 ? { initContainerStatuses: init.statuses } : {}),
    containerStatuses: main.statuses,
    ...ephemeralStatuses(pod, nowMs),
  };
  if (isOverdue && main.phase !== 'Failed')
    return { status: { ...stoppedPodStatus(pod, status, nowMs), ...DEADLINE } };
  const dueAtMs = Math.min(init.dueAtMs, main.dueAtMs, deadlineMs ?? Infinity);
  const conditions = conditionsOf(pod, status, { isInitialized: init.isDone, nowMs });
  if (main.phase === 'Succeeded' || main.phase === 'Failed')
    return { status: { ...stoppedContainers(status, 0, nowMs), conditions } };
  return { status: { ...status, conditions }, ...(dueAtMs < Infinity ? { dueAtMs } : {}) };
}

/** A server that counts the generations of pods shows which one the node has seen. */
function observed({ metadata: { generation } }: Pod): Pick<PodStatus, 'observedGeneration'> {
  return generation === undefined ? {} : { observedGeneration: generation };
}

/** Ephemeral containers run until their pod ends. */
function ephemeralStatuses(pod: Pod, nowMs: number): Pick<PodStatus, 'ephemeralContainerStatuses'> {
  const { ephemeralContainers = [] } = pod.spec;
  if (ephemeralContainers.length === 0) return {};
  const rules: ContainerRules = { startAtMs: 0, exit: undefined, isReady: false, restarts: () => false };
  const statuses = ephemeralContainers.map((container) => {
    const before = statusOf(pod.status?.ephemeralContainerStatuses, container.name);
    return advanceContainer(pod, before ?? waitingStatus(container, 'ContainerCreating'), rules, nowMs)
      .status;
  });
  return { ephemeralContainerStatuses: statuses };
}

/** Stops the containers that still run: all of a pod that is stopped, or the sidecars and ephemeral containers of one that has ended. */
function stoppedContainers(status: PodStatus, exitCode: number, nowMs: number): PodStatus {
  const stop = (each: ContainerStatus): ContainerStatus =>
    each.state.running === undefined ? each : stoppedStatus(each, exitCode, nowMs);
  const { initContainerStatuses: inits, ephemeralContainerStatuses: ephemerals } = status;
  return {
    ...status,
    ...(inits === undefined ? {} : { initContainerStatuses: inits.map(stop) }),
    ...(ephemerals === undefined ? {} : { ephemeralContainerStatuses: ephemerals.map(stop) }),
  };
}

/** The status of a pod whose containers are all stopped from outside. */
export function stoppedPodStatus(pod: Pod, status: PodStatus, nowMs: number): PodStatus {
  const stop = (each: ContainerStatus): ContainerStatus => stoppedStatus(each, EXIT_CODE_TERMINATED, nowMs);
  const stopped: PodStatus = {
    ...stoppedContainers(status, EXIT_CODE_TERMINATED, nowMs),
    phase: 'Failed',
    containerStatuses: (status.containerStatuses ?? []).map(stop),
  };
  return { ...stopped, conditions: conditionsOf(pod, stopped, { isInitialized: true, nowMs }) };
}

interface Group {
  readonly statuses: readonly ContainerStatus[];
  readonly dueAtMs: number;
}

/** Init containers run one after the other. */
function advanceInit(
  pod: Pod,
  nowMs: number,
  startTime: string,
): Group & { readonly isDone: boolean; readonly hasFailed: boolean; readonly doneAtMs: number } {
  const { initContainers = [] } = pod.spec;
  const statuses: ContainerStatus[] = [];
  let dueAtMs = Infinity;
  let doneAtMs = parseTime(startTime) ?? nowMs;
  let isDone = true;
  let hasFailed = false;
  for (const container of initContainers) {
    const before =
      statusOf(pod.status?.initContainerStatuses, container.name) ??
      waitingStatus(container, 'PodInitializing');
    if (!isDone) {
      statuses.push(before);
      continue;
    }
    const startAtMs = doneAtMs + delayOf(pod, 'pod-init-container-running');
    const rules = initRules(pod, container, startAtMs);
    const next = advanceContainer(pod, before, rules, nowMs);
    const { running, terminated } = next.status.state;
    // The container after a sidecar waits only for its start.
    const doneAt = rules.exit === undefined ? running?.startedAt : terminated?.finishedAt;
    const exitCode = finalExitCode(next.status, rules);
    // As the kubelet, an init container that has completed is ready.
    statuses.push(exitCode === 0 ? { ...next.status, ready: true } : next.status);
    dueAtMs = next.dueAtMs ?? Infinity;
    hasFailed = exitCode !== undefined && exitCode !== 0;
    isDone = exitCode === 0 || (rules.exit === undefined && running !== undefined);
    doneAtMs = parseTime(doneAt ?? '') ?? nowMs;
  }
  return { statuses, dueAtMs, isDone, hasFailed, doneAtMs };
}

/** A sidecar is an init container that runs as long as its pod. */
function initRules(pod: Pod, container: Container, startAtMs: number): ContainerRules {
  const isSidecar = container.restartPolicy === 'Always';
  return {
    startAtMs,
    exit: isSidecar ? undefined : initExitOf(pod, container),
    isReady: isSidecar,
    restarts: (exitCode) => isSidecar || (exitCode !== 0 && pod.spec.restartPolicy !== 'Never'),
  };
}

function advanceMain(
  pod: Pod,
  init: ReturnType<typeof advanceInit>,
  nowMs: number,
): Group & { readonly phase: string } {
  const { containers, restartPolicy, initContainers = [] } = pod.spec;
  const waiting = initContainers.length > 0 && !init.isDone ? 'PodInitializing' : 'ContainerCreating';
  const isReady = isReadyByRule(pod);
  const restarts = (exitCode: number): boolean =>
    restartPolicy !== 'Never' && (restartPolicy !== 'OnFailure' || exitCode !== 0);
  const statuses: ContainerStatus[] = [];
  const exitCodes: (number | undefined)[] = [];
  let dueAtMs = Infinity;
  for (const container of containers ?? []) {
    const known = statusOf(pod.status?.containerStatuses, container.name);
    const before = known
      ? replacedStatus(pod, known, container.image ?? '', nowMs)
      : waitingStatus(container, waiting);
    if (!init.isDone) {
      statuses.push(before);
      continue;
    }
    const startAtMs = init.doneAtMs + delayOf(pod, 'pod-ready');
    const rules: ContainerRules = { startAtMs, exit: exitOf(pod, container), isReady, restarts };
    const next = advanceContainer(pod, before, rules, nowMs);
    statuses.push(next.status);
    exitCodes.push(finalExitCode(next.status, rules));
    dueAtMs = Math.min(dueAtMs, next.dueAtMs ?? Infinity);
  }
  if (init.hasFailed) return { statuses, dueAtMs, phase: 'Failed' };
  if (!init.isDone || statuses.some(isNew)) return { statuses, dueAtMs, phase: 'Pending' };
  if (exitCodes.includes(undefined)) return { statuses, dueAtMs, phase: 'Running' };
  return { statuses, dueAtMs, phase: exitCodes.some((code) => code !== 0) ? 'Failed' : 'Succeeded' };
}

function isNew({ state, lastState }: ContainerStatus): boolean {
  return state.running === undefined && state.terminated === undefined && lastState.terminated === undefined;
}

function statusOf(statuses: readonly ContainerStatus[] = [], name: string): ContainerStatus | undefined {
  return statuses.find((each) => each.name === name);
}

interface Readiness {
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

/** Returns all conditions of a pod; those of other writers are kept. Source: `GeneratePodReadyCondition` and its neighbours in the kubelet. */
function conditionsOf(
  pod: Pod,
  status: PodStatus,
  { isInitialized, nowMs }: { readonly isInitialized: boolean; readonly nowMs: number },
): readonly PodCondition[] {
  const before = pod.status?.conditions ?? [];
  const containersReady = containersReadiness(status);
  const own = new Map<string, Readiness>([
    ['Initialized', initialization(status, isInitialized)],
    ['Ready', containersReady.status === 'True' ? gateReadiness(pod) : containersReady],
    ['ContainersReady', containersReady],
  ]);
  const made = [...own].map(([type, decision]): PodCondition => {
    const known = before.find((each) => each.type === type);
    const isSame = known?.status === decision.status;
    const lastTransitionTime = isSame ? known.lastTransitionTime : formatTime(nowMs);
    return { type, ...observed(pod), lastProbeTime: null, lastTransitionTime, ...defined(decision) };
  });
  return [...before.filter(({ type }) => !own.has(type)), ...made];
}

function initialization({ phase, initContainerStatuses = [] }: PodStatus, isInitialized: boolean): Readiness {
  if (isInitialized)
    return phase === 'Succeeded' ? { status: 'True', reason: 'PodCompleted' } : { status: 'True' };
  const open = initContainerStatuses.filter(({ ready }) => !ready).map(({ name }) => name);
  const message = `containers with incomplete status: [${open.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotInitialized', message };
}

function containersReadiness({ phase, containerStatuses = [] }: PodStatus): Readiness {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const unready = containerStatuses.filter(({ ready }) => !ready).map(({ name }) => name);
  if (unready.length === 0) return { status: 'True' };
  const message = `containers with unready status: [${unready.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotReady', message };
}

function gateReadiness({ spec: { readinessGates = [] }, status }: Pod): Readiness {
  const messages = readinessGates.flatMap(({ conditionType: gate }) => {
    const condition = status?.conditions?.find(({ type }) => type === gate);
    if (condition === undefined)
      return `corresponding condition of pod readiness gate ${JSON.stringify(gate)} does not exist.`;
    return condition.status === 'True'
      ? []
      : `the status of pod readiness gate ${JSON.stringify(gate)} is not "True", but ${condition.status}`;
  });
  if (messages.length === 0) return { status: 'True' };
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
}
