import type { ApiObject } from '../../../shared/object/object';
import type { RowOf } from '../columns/cells';
import { NONE } from '../columns/format';
import { ageOf, at, flagAt, listAt, nameOf, numberAt, textAt, textOr } from '../columns/read';

export const podRow: RowOf = (pod) => {
  const containers = listAt(pod, 'spec', 'containers').length;
  const { ready, restarts, reason } = podState(pod);
  return [
    nameOf(pod),
    `${String(ready)}/${String(containers)}`,
    reason,
    restarts,
    ageOf(pod),
    podIp(pod),
    textOr(NONE, pod, 'spec', 'nodeName'),
    textOr(NONE, pod, 'status', 'nominatedNodeName'),
    readinessGates(pod),
  ];
};

/** `status.reason` of a pod whose node no longer answers. */
const NODE_LOST = 'NodeLost';

interface PodState {
  readonly ready: number;
  readonly restarts: number;
  /** The word that people know as the pod's status. */
  readonly reason: string;
}

function podState(pod: ApiObject): PodState {
  const phase = textOr(textAt(pod, 'status', 'phase'), pod, 'status', 'reason');
  const state = initState(pod) ?? containersState(pod, phase);
  if (at(pod, 'metadata', 'deletionTimestamp') === undefined) return state;
  const isLost = textAt(pod, 'status', 'reason') === NODE_LOST;
  return { ...state, reason: isLost ? 'Unknown' : 'Terminating' };
}

/** The state of a pod whose init containers are not through, or undefined. The first one that is not done tells the reason. */
function initState(pod: ApiObject): PodState | undefined {
  let restarts = 0;
  for (const [index, status] of listAt(pod, 'status', 'initContainerStatuses').entries()) {
    restarts += restartCount(status);
    const terminated = at(status, 'state', 'terminated');
    if (terminated !== undefined && exitCode(terminated) === 0) continue;
    const waiting = textAt(status, 'state', 'waiting', 'reason');
    const total = listAt(pod, 'spec', 'initContainers').length;
    const progress = `${String(index)}/${String(total)}`;
    const detail =
      terminated !== undefined
        ? terminationReason(terminated)
        : waiting !== '' && waiting !== 'PodInitializing'
          ? waiting
          : progress;
    return { ready: 0, restarts, reason: `Init:${detail}` };
  }
  return undefined;
}

/** The first container that is waiting or has ended tells the reason. */
function containersState(pod: ApiObject, phase: string): PodState {
  let reason = phase;
  let restarts = 0;
  let ready = 0;
  for (const status of listAt(pod, 'status', 'containerStatuses').toReversed()) {
    restarts += restartCount(status);
    const waiting = textAt(status, 'state', 'waiting', 'reason');
    const terminated = at(status, 'state', 'terminated');
    if (waiting !== '') reason = waiting;
    else if (terminated !== undefined) reason = terminationReason(terminated);
    else if (flagAt(false, status, 'ready') && at(status, 'state', 'running') !== undefined) ready += 1;
  }
  // A pod of which one container still runs has not completed.
  if (reason === 'Completed' && ready > 0) reason = isReady(pod) ? 'Running' : 'NotReady';
  return { ready, restarts, reason };
}

function terminationReason(terminated: unknown): string {
  const signal = numberAt(terminated, 'signal');
  const fallback = signal === 0 ? `ExitCode:${String(exitCode(terminated))}` : `Signal:${String(signal)}`;
  return textOr(fallback, terminated, 'reason');
}

function exitCode(terminated: unknown): number {
  return Number(numberAt(terminated, 'exitCode'));
}

function restartCount(status: unknown): number {
  return Number(numberAt(status, 'restartCount'));
}

function isReady(pod: ApiObject): boolean {
  return listAt(pod, 'status', 'conditions').some(
    (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
  );
}

function podIp(pod: ApiObject): string {
  const [first] = listAt(pod, 'status', 'podIPs');
  return textOr(textOr(NONE, pod, 'status', 'podIP'), first, 'ip');
}

function readinessGates(pod: ApiObject): string {
  const gates = listAt(pod, 'spec', 'readinessGates');
  if (gates.length === 0) return NONE;
  const conditions = listAt(pod, 'status', 'conditions');
  const open = gates.filter((gate) => {
    const type = textAt(gate, 'conditionType');
    const condition = conditions.find((each) => textAt(each, 'type') === type);
    return textAt(condition, 'status') === 'True';
  });
  return `${String(open.length)}/${String(gates.length)}`;
}

/** The conditions of a Table's row; only pods that have ended carry one. */
export function podRowConditions(pod: ApiObject): readonly object[] {
  const phase = textAt(pod, 'status', 'phase');
  const message = ENDED[phase];
  return message === undefined ? [] : [{ type: 'Completed', status: 'True', reason: phase, message }];
}

const ENDED: Readonly<Record<string, string>> = {
  Succeeded: 'The pod has completed successfully.',
  Failed: 'The pod failed.',
};
