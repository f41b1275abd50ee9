import type { StatefulSet } from '../../shared/api/types/apps-v1';
import type { PersistentVolumeClaim, Pod, Volume } from '../../shared/api/types/core-v1';
import type { PodTemplateSpec } from '../../shared/api/types/core-v1';
import type { ObjectMeta, Sent } from '../../shared/object/object';
import { WORKLOAD_LABEL } from '../../shared/workload-names';
import { PARENT } from '../pods/children';
import { podFromTemplate } from '../pods/pod-control';
import { isAvailable, isReady } from '../pods/pod-state';
import { isBeingDeleted } from '../runtime/owner';

/** About as many pods as one pass creates, however many the set asks for. */
const BURST_PODS = 500;

/** Returns the name of the set and the ordinal that the name of a pod has; undefined for another name. */
function identityOf({
  metadata,
}: Pick<Pod, 'metadata'>): { readonly parent: string; readonly ordinal: number } | undefined {
  const [, parent = '', text] = /^(.*)-(\d+)$/u.exec(metadata.name ?? '') ?? [];
  const ordinal = Number(text);
  return text === undefined || ordinal >= 2 ** 31 ? undefined : { parent, ordinal };
}

/** Returns the ordinal of a pod; -1 if its name has none. */
export function ordinalOf(pod: Pod): number {
  return identityOf(pod)?.ordinal ?? -1;
}

/** Reports whether the pod has a name of the set. */
export function isMemberOf(pod: Pod, { metadata }: StatefulSet): boolean {
  return identityOf(pod)?.parent === metadata.name;
}

export function desiredCount({ spec }: StatefulSet): number {
  return spec.replicas ?? 1;
}

export function firstOrdinal({ spec }: StatefulSet): number {
  return spec.ordinals?.start ?? 0;
}

/** Reports whether the ordinal is one of those that the set asks for. */
export function isWanted(ordinal: number, set: StatefulSet): boolean {
  const first = firstOrdinal(set);
  return ordinal >= first && ordinal < first + desiredCount(set);
}

/** A place for a pod with a wanted ordinal. */
export interface Slot {
  readonly ordinal: number;
  readonly pod: Pod | undefined;
}

/** Returns the wanted ordinals from the first one on, up to one that leaves `BURST_PODS` without a pod: the next pass continues there. */
export function slotsOf(set: StatefulSet, pods: readonly Pod[]): readonly Slot[] {
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  const first = firstOrdinal(set);
  return Array.from({ length: Math.min(desiredCount(set), pods.length + BURST_PODS) }, (_, at): Slot => {
    const ordinal = first + at;
    return { ordinal, pod: byOrdinal.get(ordinal) };
  });
}

/** Returns the name of the revision of which the pod was made. */
export function revisionOfPod({ metadata }: Pod): string {
  return metadata.labels?.[WORKLOAD_LABEL.controllerRevision] ?? '';
}

export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isReady(pod);
}

/** Reports whether the pod is missing, not available, or being deleted (upstream `isUnavailable`). */
export function isUnavailable(pod: Pod | undefined, { spec }: StatefulSet, nowMs: number): boolean {
  return pod === undefined || isBeingDeleted(pod) || !isAvailable(pod, spec.minReadySeconds ?? 0, nowMs);
}

/** Reports whether a claim with this name could be one of the set. */
export function hasClaimName({ metadata, spec }: StatefulSet, name: string): boolean {
  const prefixes = (spec.volumeClaimTemplates ?? []).map(
    (template) => `${template.metadata.name ?? ''}-${metadata.name ?? ''}-`,
  );
  return prefixes.some((prefix) => name.startsWith(prefix));
}

/** Returns the claims of the pod with this ordinal, by the names of their volumes (upstream `getPersistentVolumeClaims`). */
export function claimsOf(
  { metadata, spec }: StatefulSet,
  ordinal: number,
): ReadonlyMap<string, Sent<PersistentVolumeClaim>> {
  return new Map(
    (spec.volumeClaimTemplates ?? []).map((template): [string, Sent<PersistentVolumeClaim>] => {
      const volume = template.metadata.name ?? '';
      const { namespace } = metadata;
      const labels = { ...template.metadata.labels, ...spec.selector?.matchLabels };
      const { status: _status, ...rest } = template;
      const claim = {
        ...rest,
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: {
          ...template.metadata,
          name: `${volume}-${metadata.name ?? ''}-${String(ordinal)}`,
          ...(namespace === undefined ? {} : { namespace }),
          labels,
        },
      };
      return [volume, claim];
    }),
  );
}

/** Returns the volumes with those of the claims (upstream `updateStorage`). */
function withClaims(
  volumes: readonly Volume[],
  claims: ReadonlyMap<string, Sent<PersistentVolumeClaim>>,
): readonly Volume[] {
  const claimed = [...claims].map(([name, { metadata }]) => ({
    name,
    persistentVolumeClaim: { claimName: metadata.name ?? '' },
  }));
  return [...claimed, ...volumes.filter(({ name }) => !claims.has(name))];
}

/** What a new pod is made of. */
export interface PodPlan {
  readonly ordinal: number;
  readonly template: PodTemplateSpec;
  /** The name of the revision that has the template. */
  readonly revision: string;
  /** Whether pods have a label with their ordinal. */
  readonly hasIndexLabel: boolean;
}

/** Returns the pod with this ordinal (upstream `newStatefulSetPod`). */
export function newStatefulPod(
  set: StatefulSet,
  { ordinal, template, revision, hasIndexLabel }: PodPlan,
): Sent<Pod> {
  const name = `${set.metadata.name ?? ''}-${String(ordinal)}`;
  const pod = podFromTemplate(template, { resource: PARENT.statefulSets, object: set });
  const { metadata } = pod;
  return {
    ...pod,
    metadata: {
      ...metadata,
      name,
      labels: {
        ...labelsWithIdentity({ ...metadata, name }, ordinal, hasIndexLabel),
        [WORKLOAD_LABEL.controllerRevision]: revision,
      },
    },
    spec: {
      ...pod.spec,
      hostname: name,
      subdomain: set.spec.serviceName,
      volumes: withClaims(pod.spec.volumes ?? [], claimsOf(set, ordinal)),
    },
  };
}

/** Returns the pod as the set wants it: with the labels of its identity and the volumes of its claims; the same pod if it is so. */
export function conformed(pod: Pod, set: StatefulSet, hasIndexLabel: boolean): Pod {
  const { metadata, spec } = pod;
  const claims = claimsOf(set, ordinalOf(pod));
  const isNamed = metadata.labels?.[WORKLOAD_LABEL.statefulPodName] === metadata.name;
  const isStored = [...claims].every(([volume, claim]) =>
    spec.volumes?.some(
      ({ name, persistentVolumeClaim }) =>
        name === volume && persistentVolumeClaim?.claimName === claim.metadata.name,
    ),
  );
  if (isNamed && isStored) return pod;
  const labels = isNamed ? metadata.labels : labelsWithIdentity(metadata, ordinalOf(pod), hasIndexLabel);
  return {
    ...pod,
    metadata: { ...metadata, ...(labels === undefined ? {} : { labels }) },
    spec: isStored ? spec : { ...spec, volumes: withClaims(spec.volumes ?? [], claims) },
  };
}

function labelsWithIdentity(
  { name = '', labels }: ObjectMeta,
  ordinal: number,
  hasIndexLabel: boolean,
): Readonly<Record<string, string>> {
  return {
    ...labels,
    [WORKLOAD_LABEL.statefulPodName]: name,
    ...(hasIndexLabel ? { [WORKLOAD_LABEL.podIndex]: String(ordinal) } : {}),
  };
}
