import { isInForce } from '../../../../../shared/api/changes';
import type { ContainerStateTerminated, ContainerStatus, Pod } from '../../../../../shared/api/types/core-v1';
import { parseTime } from '../../../../../shared/meta/time';
import { ownKeyMap } from '../../../../../shared/own-key-map';
import type { Cell } from '../../../../engine/registry/object-table';
import { Age } from '../../../../engine/registry/object-table';
import { AGE, NAME } from '../../columns/common';
import { NONE } from '../../columns/format';
import { derivedTableOf } from '../../columns/table';

/** The rows of pods. Source: printPod of `pkg/printers/internalversion/printers.go`, v1.21 and v1.36. */
export const podTable = derivedTableOf(podState, [
  NAME,
  { name: 'Ready', cell: (_pod, { ready, total }) => `${String(ready)}/${String(total)}` },
  { name: 'Status', cell: (_pod, { reason }) => reason },
  isInForce('restartTimesColumn')
    ? { name: 'Restarts', cell: (_pod, state) => restartsText(state) }
    : { name: 'Restarts', type: 'integer', cell: (_pod, { restarts }) => restarts },
  AGE,
  { name: 'IP', isWide: true, cell: podIp },
  { name: 'Node', isWide: true, cell: ({ spec }) => spec.nodeName ?? NONE },
  { name: 'Nominated Node', isWide: true, cell: ({ status }) => status?.nominatedNodeName ?? NONE },
  { name: 'Readiness Gates', isWide: true, cell: readinessGates },
]);

const COUNTS_SIDECARS = isInForce('sidecarsInPodTable');
const SHOWS_GATES = isInForce('gatedPodStatus');
const SHOWS_ENDED = isInForce('endedPodStatus');

/** `status.reason` of a pod whose node no longer answers. */
const NODE_LOST = 'NodeLost';
const SCHEDULING_GATED = 'SchedulingGated';

interface Restarts {
  readonly restarts: number;
  /** When the last of them began, in milliseconds since the epoch; 0 if unknown. */
  readonly lastMs: number;
}

interface ContainersState extends Restarts {
  readonly ready: number;
  /** The word that people know as the pod's status. */
  readonly reason: string;
}

interface PodState extends ContainersState {
  readonly total: number;
}

function restartsText({ restarts, lastMs }: Restarts): Cell {
  if (restarts === 0 || lastMs === 0) return String(restarts);
  return new Age(new Date(lastMs).toISOString(), { before: `${String(restarts)} (`, after: ' ago)' });
}

function podState(pod: Pod): PodState {
  const { phase = '', reason = phase } = pod.status ?? {};
  const sidecars = sidecarsOf(pod);
  const total = (pod.spec.containers?.length ?? 0) + sidecars.size;
  const shown = isGated(pod) ? SCHEDULING_GATED : reason;
  const state = { ...containersState(pod, sidecars, shown), total };
  if (pod.metadata.deletionTimestamp === undefined) return state;
  if (reason === NODE_LOST) return { ...state, reason: 'Unknown' };
  return SHOWS_ENDED && ENDED.get(phase) !== undefined ? state : { ...state, reason: 'Terminating' };
}

function isGated({ status: { conditions = [] } = {} }: Pod): boolean {
  return (
    SHOWS_GATES &&
    conditions.some(({ type, reason }) => type === 'PodScheduled' && reason === SCHEDULING_GATED)
  );
}

/** The names of init containers that run beside the others. */
function sidecarsOf({ spec: { initContainers = [] } }: Pod): ReadonlySet<string> {
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  return new Set(COUNTS_SIDECARS ? sidecars.map(({ name }) => name) : []);
}

interface InitState extends Restarts {
  readonly ready: number;
  /** That of the first init container that is not done; undefined if all are. */
  readonly reason: string | undefined;
  readonly ofSidecars: Restarts;
}

function containersState(pod: Pod, sidecars: ReadonlySet<string>, ofPod: string): ContainersState {
  const { ofSidecars, reason, ...init } = initState(pod, sidecars);
  const isDone = reason === undefined || (COUNTS_SIDECARS && hasCondition(pod, 'Initialized'));
  if (!isDone) return { ...init, reason };
  return mainState(pod, { ...ofSidecars, ready: init.ready, reason: reason ?? ofPod });
}

function initState({ spec: { initContainers = [] }, status }: Pod, sidecars: ReadonlySet<string>): InitState {
  let all = NO_RESTARTS;
  let ofSidecars = NO_RESTARTS;
  let ready = 0;
  for (const [index, each] of (status?.initContainerStatuses ?? []).entries()) {
    const isSidecar = sidecars.has(each.name);
    all = plusRestarts(all, each);
    if (isSidecar) ofSidecars = plusRestarts(ofSidecars, each);
    const { terminated, waiting } = each.state;
    if (terminated?.exitCode === 0) continue;
    if (isSidecar && each.started === true) {
      if (each.ready) ready += 1;
      continue;
    }
    const why = waiting?.reason ?? '';
    const progress = `${String(index)}/${String(initContainers.length)}`;
    const detail =
      terminated !== undefined
        ? terminationReason(terminated)
        : why !== '' && why !== 'PodInitializing'
          ? why
          : progress;
    return { ...all, ready, reason: `Init:${detail}`, ofSidecars };
  }
  return { ...all, ready, reason: undefined, ofSidecars };
}

const NO_RESTARTS: Restarts = { restarts: 0, lastMs: 0 };

function plusRestarts(before: Restarts, { restartCount, lastState }: ContainerStatus): Restarts {
  const endedMs = parseTime(lastState?.terminated?.finishedAt ?? '') ?? 0;
  return { restarts: before.restarts + restartCount, lastMs: Math.max(before.lastMs, endedMs) };
}

/** Adds the containers to `before`. The reason is that of the first one that is waiting or has ended. */
function mainState(pod: Pod, before: ContainersState): ContainersState {
  let { reason, ready } = before;
  let restarts: Restarts = before;
  let error = '';
  let isRunning = false;
  for (const status of (pod.status?.containerStatuses ?? []).toReversed()) {
    const { waiting, terminated, running } = status.state;
    restarts = plusRestarts(restarts, status);
    if (waiting?.reason !== undefined) reason = waiting.reason;
    else if (terminated !== undefined) {
      reason = terminationReason(terminated);
      if (terminated.exitCode !== 0) error = reason;
    } else if (status.ready && running !== undefined) {
      isRunning = true;
      ready += 1;
    }
  }
  if (reason === 'Completed') {
    // A pod of which one container still runs has not completed.
    if (isRunning && hasCondition(pod, 'Ready')) reason = 'Running';
    else if (SHOWS_ENDED && error !== '') reason = error;
    else if (isRunning) reason = 'NotReady';
  }
  return { restarts: restarts.restarts, lastMs: restarts.lastMs, ready, reason };
}

function terminationReason({ reason = '', signal = 0, exitCode }: ContainerStateTerminated): string {
  if (reason !== '') return reason;
  return signal === 0 ? `ExitCode:${String(exitCode)}` : `Signal:${String(signal)}`;
}

/** Whether the first condition of this type is true. */
function hasCondition({ status: { conditions = [] } = {} }: Pod, wanted: string): boolean {
  return conditions.find(({ type }) => type === wanted)?.status === 'True';
}

function podIp({ status: { podIP, podIPs = [] } = {} }: Pick<Pod, 'status'>): string {
  return podIPs[0]?.ip ?? podIP ?? NONE;
}

function readinessGates(pod: Pod): string {
  const { readinessGates: gates = [] } = pod.spec;
  if (gates.length === 0) return NONE;
  const open = gates.filter(({ conditionType }) => hasCondition(pod, conditionType));
  return `${String(open.length)}/${String(gates.length)}`;
}

/** The conditions of a Table's row; only pods that have ended carry one. */
export function podRowConditions({ status: { phase = '' } = {} }: Pick<Pod, 'status'>): readonly object[] {
  const message = ENDED.get(phase);
  return message === undefined ? [] : [{ type: 'Completed', status: 'True', reason: phase, message }];
}

const ENDED = ownKeyMap<string>({
  Succeeded: 'The pod has completed successfully.',
  Failed: 'The pod failed.',
});
