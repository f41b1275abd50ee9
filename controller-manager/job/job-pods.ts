import type { Job } from '../../shared/api/types/batch-v1';
import type { Container, Pod, PodSpec } from '../../shared/api/types/core-v1';
import type { ObjectMeta, Sent } from '../../shared/object/object';
import { JOB_TRACKING_FINALIZER, WORKLOAD_ANNOTATION } from '../../shared/workload-names';
import { PARENT } from '../pods/children';
import { podsToDelete } from '../pods/deletion-order';
import { podFromTemplate } from '../pods/pod-control';
import { allIndexFailures, failureAnnotations, finishedMs } from './backoff';
import type { IndexSet } from './indexes';
import { completionIndexOf, indexesOf } from './indexes';
import { hasFailed } from './policies';

const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';
const NAME_BASE_CHARS_MAX = 57;

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === 'Indexed';
}

export function isSuspended({ spec }: Job): boolean {
  return spec.suspend === true;
}

/** Reports whether each index has a backoff of its own. */
export function hasBackoffPerIndex(job: Job): boolean {
  return isIndexed(job) && job.spec.backoffLimitPerIndex !== undefined;
}

/** Returns the index of a pod if the Job has it. */
export function validIndexOf(pod: Pod, { spec }: Job): number | undefined {
  const index = completionIndexOf(pod);
  return index !== undefined && index < (spec.completions ?? 0) ? index : undefined;
}

/**
 * Returns the active pods to delete, at least `atLeast`: of an indexed Job first those whose index it does not have, or has twice
 * (upstream `activePodsForRemoval`).
 */
export function surplusPods(
  job: Job,
  active: readonly Pod[],
  { atLeast, nowMs }: { readonly atLeast: number; readonly nowMs: number },
): readonly Pod[] {
  const wrong = isIndexed(job) ? wronglyIndexed(job, active, nowMs) : [];
  const count = atLeast - wrong.length;
  if (count <= 0) return wrong;
  const left = active.filter((pod) => !wrong.includes(pod));
  return [...wrong, ...podsToDelete(left, [], { count, nowMs })];
}

function wronglyIndexed(job: Job, active: readonly Pod[], nowMs: number): readonly Pod[] {
  const byIndex = new Map<number | undefined, Pod[]>();
  for (const pod of active) {
    const index = validIndexOf(pod, job);
    byIndex.set(index, [...(byIndex.get(index) ?? []), pod]);
  }
  return [...byIndex].flatMap(([index, pods]) =>
    podsToDelete(pods, [], { count: index === undefined ? pods.length : pods.length - 1, nowMs }),
  );
}

/**
 * Returns by index the failed pods that are kept until their replacement is made, because their annotations count the failures of the
 * index (upstream `getPodsWithDelayedDeletionPerIndex`).
 */
export function lastFailedByIndex(
  job: Job,
  uncounted: readonly Pod[],
  { active, done }: { readonly active: readonly Pod[]; readonly done: IndexSet },
): ReadonlyMap<number, Pod> {
  const last = new Map<number, Pod>();
  const settled = done.with(indexesOf(active));
  for (const pod of uncounted) {
    const index = validIndexOf(pod, job);
    if (index === undefined || settled.has(index) || !hasFailed(pod, job)) continue;
    const other = last.get(index);
    const isLater =
      other === undefined ||
      (allIndexFailures(other) <= allIndexFailures(pod) && finishedMs(other) <= finishedMs(pod));
    if (isLater) last.set(index, pod);
  }
  return last;
}

export interface NewJobPod {
  /** Undefined for a Job without indexes. */
  readonly index: number | undefined;
  /** The failed pod of this index that the new one replaces. */
  readonly replaces: Pod | undefined;
  /** Whether the Job tracks its pods by a finalizer, and labels them with their index. */
  readonly isModern: boolean;
}

/** Returns a pod of the Job. An indexed one has its index in an annotation, its host name and its environment. */
export function newJobPod(job: Job, { index, replaces, isModern }: NewJobPod): Sent<Pod> {
  const parent = { resource: PARENT.jobs, object: job };
  const finalizers = isModern ? [JOB_TRACKING_FINALIZER] : [];
  const pod = podFromTemplate(job.spec.template, parent);
  const metadata: ObjectMeta = {
    ...pod.metadata,
    ...(isModern ? { finalizers: [...new Set([...(pod.metadata.finalizers ?? []), ...finalizers])] } : {}),
  };
  if (index === undefined) return { ...pod, metadata };
  const { name = '' } = job.metadata;
  const own = { [WORKLOAD_ANNOTATION.completionIndex]: String(index) };
  const counted = hasBackoffPerIndex(job) ? failureAnnotations(job, replaces) : {};
  return {
    ...pod,
    metadata: {
      ...metadata,
      generateName: indexedName(name, index),
      annotations: { ...metadata.annotations, ...own, ...counted },
      ...(isModern ? { labels: { ...metadata.labels, ...own } } : {}),
    },
    spec: withIndexVariable({ ...pod.spec, hostname: `${name}-${String(index)}` }, isModern),
  };
}

/** The server appends five characters to it and cuts it to a label; the index must stay. */
function indexedName(name: string, index: number): string {
  const suffix = `-${String(index)}-`;
  return name.slice(0, NAME_BASE_CHARS_MAX - suffix.length) + suffix;
}

function withIndexVariable(spec: PodSpec, isModern: boolean): PodSpec {
  const fieldPath = `metadata.${isModern ? 'labels' : 'annotations'}['${WORKLOAD_ANNOTATION.completionIndex}']`;
  const variable = { name: INDEX_VARIABLE, valueFrom: { fieldRef: { fieldPath } } };
  const add = (container: Container): Container => {
    const { env = [] } = container;
    return env.some(({ name }) => name === INDEX_VARIABLE)
      ? container
      : { ...container, env: [...env, variable] };
  };
  return {
    ...spec,
    containers: (spec.containers ?? []).map(add),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(add) }),
  };
}
