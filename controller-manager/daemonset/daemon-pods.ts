import type { DaemonSet } from '../../shared/api/types/apps-v1';
import type { Node, Pod, PodSpec, PodTemplateSpec, Toleration } from '../../shared/api/types/core-v1';
import { parseTime } from '../../shared/meta/time';
import { TAINT } from '../../shared/names';
import { scaledValue } from '../../shared/object/values';
import { WORKLOAD_ANNOTATION, WORKLOAD_LABEL } from '../../shared/workload-names';
import { findUntolerated, matchesNodeAffinity } from '../pods/node-rules';

const NODE_NAME_FIELD = 'metadata.name';

/** Pods of a DaemonSet stay on a node in these conditions. Source: `AddOrUpdateDaemonPodTolerations`. */
const TOLERATIONS: readonly Toleration[] = [
  { key: TAINT.notReady, operator: 'Exists', effect: 'NoExecute' },
  { key: TAINT.unreachable, operator: 'Exists', effect: 'NoExecute' },
  { key: TAINT.diskPressure, operator: 'Exists', effect: 'NoSchedule' },
  { key: TAINT.memoryPressure, operator: 'Exists', effect: 'NoSchedule' },
  { key: TAINT.pidPressure, operator: 'Exists', effect: 'NoSchedule' },
  { key: TAINT.unschedulable, operator: 'Exists', effect: 'NoSchedule' },
];
const HOST_NETWORK_TOLERATION: Toleration = {
  key: TAINT.networkUnavailable,
  operator: 'Exists',
  effect: 'NoSchedule',
};

function tolerationsOf({ tolerations = [], hostNetwork }: PodSpec): readonly Toleration[] {
  const own = hostNetwork === true ? [...TOLERATIONS, HOST_NETWORK_TOLERATION] : TOLERATIONS;
  const isSame = (a: Toleration, b: Toleration): boolean =>
    a.key === b.key &&
    a.operator === b.operator &&
    a.effect === b.effect &&
    (a.value ?? '') === (b.value ?? '');
  const added = own.filter((each) => !tolerations.some((given) => isSame(given, each)));
  // A toleration that differs in its time only is replaced.
  return [...tolerations.map((given) => own.find((each) => isSame(given, each)) ?? given), ...added];
}

export interface Placement {
  /** A pod is created on the node if there is none. */
  readonly shouldRun: boolean;
  /** A pod that is on the node stays. */
  readonly mayStay: boolean;
}

/** Returns whether the node is one for pods of the set, by name, affinity and taints (upstream `NodeShouldRunDaemonPod`). */
export function placementOn({ metadata, spec }: Node, { spec: { template } }: DaemonSet): Placement {
  const { nodeName = '' } = template.spec;
  const pod = { metadata: {}, spec: template.spec };
  const isPlace =
    (nodeName === '' || nodeName === metadata.name) && matchesNodeAffinity(pod, { metadata, spec });
  if (!isPlace) return { shouldRun: false, mayStay: false };
  const taints = spec.taints ?? [];
  const tolerations = tolerationsOf(template.spec);
  return {
    shouldRun: findUntolerated(taints, tolerations, ['NoSchedule', 'NoExecute']) === undefined,
    mayStay: findUntolerated(taints, tolerations, ['NoExecute']) === undefined,
  };
}

/** Returns the template of a pod for this node, which its affinity names (upstream `CreatePodTemplate`). */
export function templateFor({ metadata, spec }: DaemonSet, hash: string, node: string): PodTemplateSpec {
  const { template } = spec;
  const { affinity } = template.spec;
  const generation = templateGenerationOf({ metadata });
  return {
    metadata: {
      ...template.metadata,
      labels: {
        ...template.metadata.labels,
        ...(generation === undefined ? {} : { [WORKLOAD_LABEL.templateGeneration]: generation }),
        [WORKLOAD_LABEL.controllerRevision]: hash,
      },
    },
    spec: {
      ...template.spec,
      tolerations: tolerationsOf(template.spec),
      affinity: {
        ...affinity,
        nodeAffinity: {
          ...affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: NODE_NAME_FIELD, operator: 'In', values: [node] }] }],
          },
        },
      },
    },
  };
}

/** Returns the node that the pod is on or meant for; undefined if it names none (upstream `GetTargetNodeName`). */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec.nodeName !== undefined && spec.nodeName !== '') return spec.nodeName;
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const field = terms
    .flatMap(({ matchFields = [] }) => matchFields)
    .find(({ key, operator }) => key === NODE_NAME_FIELD && operator === 'In');
  return field?.values?.length === 1 ? field.values[0] : undefined;
}

function templateGenerationOf({ metadata }: Pick<DaemonSet, 'metadata'>): string | undefined {
  const text = metadata.annotations?.[WORKLOAD_ANNOTATION.templateGeneration] ?? '';
  return /^[+-]?\d+$/u.test(text) ? String(Number(text)) : undefined;
}

/** Reports whether the pod was made of the current template (upstream `IsPodUpdated`). */
export function isUpdated({ metadata: { labels } }: Pod, set: DaemonSet, hash: string): boolean {
  const generation = templateGenerationOf(set);
  return (
    labels?.[WORKLOAD_LABEL.controllerRevision] === hash ||
    (generation !== undefined && labels?.[WORKLOAD_LABEL.templateGeneration] === generation)
  );
}

/** Orders assigned pods first, then by age and name. */
export function byAge(a: Pod, b: Pod): number {
  const [isOnA, isOnB] = [a, b].map(({ spec }) => (spec.nodeName ?? '') !== '');
  const age = ({ metadata }: Pod): number => parseTime(metadata.creationTimestamp ?? '') ?? 0;
  const named = (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
  return Number(isOnB) - Number(isOnA) || age(a) - age(b) || named;
}

/** The numbers that a rolling update may go to, of so many nodes (upstream `updatedDesiredNodeCounts`). */
export function limitsOf(
  { spec: { updateStrategy } }: DaemonSet,
  nodes: number,
): { readonly maxSurge: number; readonly maxUnavailable: number } {
  const { type, rollingUpdate } = updateStrategy;
  if (type !== 'RollingUpdate' || rollingUpdate === undefined)
    return { maxSurge: 0, maxUnavailable: nodes > 0 ? 1 : 0 };
  const maxSurge = scaledValue(rollingUpdate.maxSurge, nodes, 'up');
  const maxUnavailable = scaledValue(rollingUpdate.maxUnavailable, nodes, 'up');
  return { maxSurge, maxUnavailable: nodes > 0 && maxSurge + maxUnavailable === 0 ? 1 : maxUnavailable };
}
