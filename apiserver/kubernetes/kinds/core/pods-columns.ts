import type { ContainerStateTerminated, Pod } from '../../../../shared/api/types/core-v1';
import { AGE, NAME } from '../columns/common';
import { NONE } from '../columns/format';
import { derivedTableOf } from '../columns/table';
import { ownKeyMap } from '../../../../shared/own-key-map';

export const podTable = derivedTableOf(podState, [
  NAME,
  {
    name: 'Ready',
    cell: ({ spec: { containers } }, { ready }) => `${String(ready)}/${String(containers?.length ?? 0)}`,
  },
  { name: 'Status', cell: (_pod, { reason }) => reason },
  { name: 'Restarts', type: 'integer', cell: (_pod, { restarts }) => restarts },
  AGE,
  { name: 'IP', isWide: true, cell: podIp },
  { name: 'Node', isWide: true, cell: ({ spec }) => spec.nodeName ?? NONE },
  { name: 'Nominated Node', isWide: true, cell: ({ status }) => status?.nominatedNodeName ?? NONE },
  { name: 'Readiness Gates', isWide: true, cell: readinessGates },
]);

/** `status.reason` of a pod whose node no longer answers. */
const NODE_LOST = 'NodeLost';

interface PodState {
  readonly ready: number;
  readonly restarts: number;
  /** The word that people know as the pod's status. */
  readonly reason: string;
}

function podState(pod: Pod): PodState {
  const { phase = '', reason = phase } = pod.status ?? {};
  const state = initState(pod) ?? containersState(pod, reason);
  if (pod.metadata.deletionTimestamp === undefined) return state;
  return { ...state, reason: reason === NODE_LOST ? 'Unknown' : 'Terminating' };
}

/** The state of a pod whose init containers are not through, or undefined. The first one that is not done tells the reason. */
function initState({ spec: { initContainers = [] }, status }: Pod): PodState | undefined {
  let restarts = 0;
  for (const [index, { state, restartCount }] of (status?.initContainerStatuses ?? []).entries()) {
    restarts += restartCount;
    const { terminated, waiting } = state;
    if (terminated !== undefined && terminated.exitCode === 0) continue;
    const why = waiting?.reason ?? '';
    const progress = `${String(index)}/${String(initContainers.length)}`;
    const detail =
      terminated !== undefined
        ? terminationReason(terminated)
        : why !== '' && why !== 'PodInitializing'
          ? why
          : progress;
    return { ready: 0, restarts, reason: `Init:${detail}` };
  }
  return undefined;
}

/** The first container that is waiting or has ended tells the reason. */
function containersState(pod: Pod, ofPod: string): PodState {
  let reason = ofPod;
  let restarts = 0;
  let ready = 0;
  for (const status of (pod.status?.containerStatuses ?? []).toReversed()) {
    const { waiting, terminated, running } = status.state;
    restarts += status.restartCount;
    if (waiting?.reason !== undefined) reason = waiting.reason;
    else if (terminated !== undefined) reason = terminationReason(terminated);
    else if (status.ready && running !== undefined) ready += 1;
  }
  // A pod of which one container still runs has not completed.
  if (reason === 'Completed' && ready > 0) reason = isReady(pod) ? 'Running' : 'NotReady';
  return { ready, restarts, reason };
}

function terminationReason({ reason = '', signal = 0, exitCode }: ContainerStateTerminated): string {
  if (reason !== '') return reason;
  return signal === 0 ? `ExitCode:${String(exitCode)}` : `Signal:${String(signal)}`;
}

function isReady({ status: { conditions = [] } = {} }: Pod): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

function podIp({ status: { podIP, podIPs = [] } = {} }: Pick<Pod, 'status'>): string {
  return podIPs[0]?.ip ?? podIP ?? NONE;
}

function readinessGates({ spec: { readinessGates: gates = [] }, status }: Pod): string {
  if (gates.length === 0) return NONE;
  const conditions = status?.conditions ?? [];
  const open = gates.filter(
    ({ conditionType }) => conditions.find(({ type }) => type === conditionType)?.status === 'True',
  );
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
