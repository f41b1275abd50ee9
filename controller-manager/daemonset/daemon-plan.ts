import type { DaemonSet } from '../../shared/api/types/apps-v1';
import type { Node, Pod } from '../../shared/api/types/core-v1';
import { WORKLOAD_LABEL } from '../../shared/workload-names';
import { isAvailable, isReady } from '../pods/pod-state';
import { isBeingDeleted } from '../runtime/owner';
import { byAge, isUpdated, limitsOf, nodeOf, placementOn } from './daemon-pods';

/** A DaemonSet with the nodes and its pods at one time. */
export interface DaemonView {
  readonly set: DaemonSet;
  readonly nodes: readonly Node[];
  /** The pods by the node that they are on or meant for. */
  readonly byNode: ReadonlyMap<string, readonly Pod[]>;
  /** The hash of the current template. */
  readonly hash: string;
  readonly nowMs: number;
}

/** Pods to create, by node, and pods to delete. */
export interface DaemonPlan {
  readonly create: readonly string[];
  readonly remove: readonly Pod[];
}

/** Groups pods by node. Pods that have ended and are being deleted are left out: nothing is left to do for them. */
export function groupByNode(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const groups = new Map<string, Pod[]>();
  for (const pod of pods) {
    const isGone =
      isBeingDeleted(pod) && (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed');
    const node = isGone ? undefined : nodeOf(pod);
    if (node === undefined) continue;
    const group = groups.get(node);
    if (group === undefined) groups.set(node, [pod]);
    else group.push(pod);
  }
  return groups;
}

/**
 * Plans one pod for each node that should have one, and no others (upstream `manage`).
 * @param mayReplace Reports whether a pod that has ended is replaced now; a failed one waits for its backoff.
 */
export function planPods(view: DaemonView, mayReplace: (pod: Pod, node: string) => boolean): DaemonPlan {
  const { set, nodes, byNode } = view;
  const create: string[] = [];
  const remove: Pod[] = [];
  const known = new Set<string>();
  for (const node of nodes) {
    const { name = '' } = node.metadata;
    known.add(name);
    const { shouldRun, mayStay } = placementOn(node, set);
    const pods = byNode.get(name);
    const lasting = (pods ?? []).filter((pod) => !isBeingDeleted(pod));
    if (!mayStay) remove.push(...lasting);
    else if (pods === undefined) {
      if (shouldRun) create.push(name);
    } else {
      const ended = lasting.filter(
        ({ status }) => status?.phase === 'Failed' || status?.phase === 'Succeeded',
      );
      remove.push(...ended.filter((pod) => mayReplace(pod, name)));
      const running = lasting.filter((pod) => !ended.includes(pod)).sort(byAge);
      if (!allowsSurge(set)) remove.push(...running.slice(1));
      else if (running.length === 0) {
        if (shouldRun) create.push(name);
      } else if (running.length > 1) remove.push(...surplusOf(running, view));
    }
  }
  // Pods that are meant for a node that is gone are never assigned, and no other controller deletes them.
  for (const [node, pods] of byNode)
    if (!known.has(node)) remove.push(...pods.filter(({ spec }) => (spec.nodeName ?? '') === ''));
  return { create, remove };
}

function allowsSurge(set: DaemonSet): boolean {
  return limitsOf(set, 1).maxSurge > 0;
}

/** With surge a node may have the oldest pod of each template, as long as only the old one is ready. */
function surplusOf(running: readonly Pod[], { set, hash, nowMs }: DaemonView): readonly Pod[] {
  const isNew = ({ metadata }: Pod): boolean => metadata.labels?.[WORKLOAD_LABEL.controllerRevision] === hash;
  const current = running.find(isNew);
  const old = running.find((pod) => !isNew(pod));
  const surplus = running.filter((pod) => pod !== current && pod !== old);
  if (current === undefined || old === undefined) return surplus;
  const isReplaced = !isReady(old) || isAvailable(current, set.spec.minReadySeconds ?? 0, nowMs);
  return isReplaced ? [...surplus, old] : surplus;
}

/** What a node has that is not being deleted: at most one pod of each template, else undefined. */
interface NodeState {
  readonly name: string;
  readonly current: Pod | undefined;
  readonly old: Pod | undefined;
}

/** Plans the next step of a rolling update (upstream `rollingUpdate`). */
export function planRollout(view: DaemonView): DaemonPlan {
  const { set, nodes, byNode } = view;
  const placed = new Map(nodes.map((node) => [node.metadata.name ?? '', placementOn(node, set).shouldRun]));
  const wanted = [...placed].flatMap(([name, shouldRun]) => (shouldRun ? [name] : []));
  const limits = limitsOf(set, wanted.length);
  const states = [...new Set([...byNode.keys(), ...wanted])].map((name) => stateOf(name, view));
  const isUp = (pod: Pod): boolean => isAvailable(pod, set.spec.minReadySeconds ?? 0, view.nowMs);
  if (limits.maxSurge === 0) return planReplacement(states, limits.maxUnavailable, isUp);
  return planSurge(states, { maxSurge: limits.maxSurge, wanted: wanted.length, placed, isUp });
}

/** Undefined: too many pods; the next pass deletes the surplus first. */
function stateOf(name: string, { set, byNode, hash }: DaemonView): NodeState | undefined {
  const lasting = (byNode.get(name) ?? []).filter((pod) => !isBeingDeleted(pod));
  const current = lasting.filter((pod) => isUpdated(pod, set, hash));
  const old = lasting.filter((pod) => !isUpdated(pod, set, hash));
  return current.length > 1 || old.length > 1 ? undefined : { name, current: current[0], old: old[0] };
}

/** Without surge: old pods that are not available go at once, and others while enough nodes have an available pod. */
function planReplacement(
  states: readonly (NodeState | undefined)[],
  maxUnavailable: number,
  isUp: (pod: Pod) => boolean,
): DaemonPlan {
  const remove: Pod[] = [];
  const candidates: Pod[] = [];
  let unavailable = 0;
  for (const state of states) {
    const { current, old } = state ?? {};
    const only = old === undefined ? current : current === undefined ? old : undefined;
    if (only === undefined) unavailable += 1;
    else if (only === current) unavailable += isUp(only) ? 0 : 1;
    else if (isUp(only)) candidates.push(only);
    else {
      remove.push(only);
      unavailable += 1;
    }
  }
  const allowed = Math.max(0, maxUnavailable - unavailable);
  return { create: [], remove: [...remove, ...candidates.slice(0, allowed)] };
}

interface SurgeParts {
  readonly maxSurge: number;
  /** How many nodes should have a pod. */
  readonly wanted: number;
  /** By node, whether it should have a pod. */
  readonly placed: ReadonlyMap<string, boolean>;
  readonly isUp: (pod: Pod) => boolean;
}

/** With surge: a new pod is created beside the old one, which goes once the new one is available. */
function planSurge(
  states: readonly (NodeState | undefined)[],
  { maxSurge, wanted, placed, isUp }: SurgeParts,
): DaemonPlan {
  const create: string[] = [];
  const candidates: string[] = [];
  const remove: Pod[] = [];
  /** Available pods on nodes that should have none: they stay until their successors are available. */
  const leaving: Pod[] = [];
  let surge = 0;
  let available = 0;
  for (const state of states) {
    if (state === undefined) {
      surge += 1;
      continue;
    }
    const { name, current, old } = state;
    const counted = old ?? current;
    if (counted !== undefined && isUp(counted)) available += 1;
    if (old === undefined) continue;
    if (current !== undefined) {
      if (isUp(current)) remove.push(old);
      else surge += 1;
    } else if (placed.get(name) !== true) (isUp(old) ? leaving : remove).push(old);
    else (isUp(old) ? candidates : create).push(name);
  }
  remove.push(...leaving.slice(0, Math.max(0, available - wanted)));
  create.push(...candidates.slice(0, Math.max(0, maxSurge - surge)));
  return { create, remove };
}
