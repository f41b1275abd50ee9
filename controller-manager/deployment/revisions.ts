import type { Deployment, ReplicaSet } from '../../shared/api/types/apps-v1';
import type { PodTemplateSpec } from '../../shared/api/types/core-v1';
import { ANNOTATION } from '../../shared/names';
import { WORKLOAD_ANNOTATION, WORKLOAD_LABEL } from '../../shared/workload-names';
import { deepEqual } from '../../shared/object/clone';
import { byCreation, desiredReplicas, maxSurge } from './replica-counts';

type Annotations = Readonly<Record<string, string>>;

const HISTORY_CHARS_MAX = 2_000;

/** Annotations of a Deployment that are not copied to its sets, and not back. */
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
  ANNOTATION.lastAppliedConfiguration,
  WORKLOAD_ANNOTATION.deploymentRevision,
  WORKLOAD_ANNOTATION.deploymentRevisionHistory,
  WORKLOAD_ANNOTATION.desiredReplicas,
  WORKLOAD_ANNOTATION.maxReplicas,
  WORKLOAD_ANNOTATION.rollbackTo,
]);

/** Returns the set with the Deployment's template, the oldest if there are several, and the others from the oldest to the newest. */
export function splitSets(
  { spec }: Deployment,
  sets: readonly ReplicaSet[],
): { readonly current: ReplicaSet | undefined; readonly old: readonly ReplicaSet[] } {
  const ordered = [...sets].sort(byCreation);
  const current = ordered.find((set) => hasTemplate(set, spec.template));
  return { current, old: ordered.filter((set) => set !== current) };
}

/** Reports whether the set was made of this template: they are equal but for the label with its hash. */
export function hasTemplate({ spec }: ReplicaSet, template: PodTemplateSpec): boolean {
  return deepEqual(withoutHash(spec.template), withoutHash(template));
}

export function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
  const { [WORKLOAD_LABEL.podTemplateHash]: _hash, ...labels } = template.metadata.labels ?? {};
  const { labels: _labels, ...metadata } = template.metadata;
  return { ...template, metadata: Object.keys(labels).length === 0 ? metadata : { ...metadata, labels } };
}

const REVISION_MAX = 2n ** 63n;

/** Returns the revision of a set; 0 if it has none, undefined if it is not a whole number of 64 bits. */
export function revisionOf({ metadata }: ReplicaSet): bigint | undefined {
  return parseRevision(metadata.annotations?.[WORKLOAD_ANNOTATION.deploymentRevision] ?? '0');
}

/** Parses a whole number of 64 bits; undefined if the text is none. */
export function parseRevision(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,19}$/u.test(text)) return undefined;
  const revision = BigInt(text.replace(/^\+/u, ''));
  return revision >= -REVISION_MAX && revision < REVISION_MAX ? revision : undefined;
}

/** Returns the highest revision of the sets, or 0. */
export function maxRevision(sets: readonly ReplicaSet[]): bigint {
  return sets.map((set) => revisionOf(set) ?? 0n).reduce((most, each) => (each > most ? each : most), 0n);
}

/** Returns the second highest revision of the sets, or 0: the one to which an undo goes back. */
export function lastRevision(sets: readonly ReplicaSet[]): bigint {
  const revisions = sets.map((set) => revisionOf(set) ?? 0n).filter((revision) => revision > 0n);
  return revisions.sort((a, b) => Number(b - a))[1] ?? 0n;
}

/** Orders by revision; equal or broken ones by age. */
export function byRevision(a: ReplicaSet, b: ReplicaSet): number {
  return Number((revisionOf(a) ?? 0n) - (revisionOf(b) ?? 0n)) || byCreation(a, b);
}

/**
 * Returns the annotations that the current set of a Deployment should have: those of the Deployment, its revision, and the revisions that
 * it had before (upstream `SetNewReplicaSetAnnotations`).
 */
export function currentSetAnnotations(
  deployment: Deployment,
  set: ReplicaSet | undefined,
  revision: bigint,
): Annotations {
  const before = set?.metadata.annotations ?? {};
  const copied = { ...before, ...copiedAnnotations(deployment.metadata.annotations) };
  const revisionBefore = set === undefined ? 0n : revisionOf(set);
  if (revisionBefore === undefined) return copied;
  if (set === undefined)
    return {
      ...copied,
      [WORKLOAD_ANNOTATION.deploymentRevision]: String(revision),
      ...sizeAnnotations(deployment),
    };
  if (revisionBefore >= revision) return copied;
  const hadRevision = before[WORKLOAD_ANNOTATION.deploymentRevision] !== undefined;
  return {
    ...copied,
    [WORKLOAD_ANNOTATION.deploymentRevision]: String(revision),
    ...(hadRevision ? historyAfter(before, String(revisionBefore)) : {}),
  };
}

/** The sizes of the Deployment when a set was last scaled: scaling is recognized by them. */
export function sizeAnnotations(deployment: Deployment): Annotations {
  const desired = desiredReplicas(deployment);
  return {
    [WORKLOAD_ANNOTATION.desiredReplicas]: String(desired),
    [WORKLOAD_ANNOTATION.maxReplicas]: String(desired + maxSurge(deployment)),
  };
}

/** Returns the annotations of a Deployment that goes back to this set: its own ones, and the others of the set. */
export function annotationsAfterRollback(deployment: Deployment, set: ReplicaSet): Annotations {
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) =>
    OWN_ANNOTATIONS.has(key),
  );
  return { ...Object.fromEntries(own), ...copiedAnnotations(set.metadata.annotations) };
}

function copiedAnnotations(annotations: Annotations = {}): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !OWN_ANNOTATIONS.has(key)));
}

function historyAfter(before: Annotations, revision: string): Annotations {
  const history = before[WORKLOAD_ANNOTATION.deploymentRevisionHistory] ?? '';
  const revisions = [...history.split(',').filter((each) => each !== ''), revision];
  while (revisions.length > 1 && revisions.join(',').length > HISTORY_CHARS_MAX) revisions.shift();
  return { [WORKLOAD_ANNOTATION.deploymentRevisionHistory]: revisions.join(',') };
}
