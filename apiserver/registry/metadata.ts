import type { ApiObject, ObjectMeta } from '../../shared/object/object';
import { deepEqual } from '../../shared/object/clone';

/** The parts of metadata that belong to the server, and how they come about. Source: rest.BeforeCreate and rest.BeforeUpdate, v1.21. */

/** Whole seconds in UTC, the form of every timestamp in metadata. */
export function timestamp(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

export interface NewIdentity {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly uid: string;
  readonly creationTimestamp: string;
  readonly generation: number | undefined;
}

/** Metadata of an object about to be created: what a client may not choose is set or taken away. */
export function metadataForCreate(meta: ObjectMeta, identity: NewIdentity): ObjectMeta {
  const {
    selfLink: _selfLink,
    resourceVersion: _resourceVersion,
    deletionTimestamp: _deletionTimestamp,
    deletionGracePeriodSeconds: _grace,
    clusterName: _clusterName,
    namespace: _namespace,
    ...kept
  } = meta as ObjectMeta & { selfLink?: string };
  return {
    ...kept,
    name: identity.name,
    ...(identity.namespace === undefined ? {} : { namespace: identity.namespace }),
    uid: identity.uid,
    creationTimestamp: identity.creationTimestamp,
    ...(identity.generation === undefined ? {} : { generation: identity.generation }),
  };
}

export interface UpdateOptions {
  /** Where the kind has none, a namespace is dropped. */
  readonly namespaced: boolean;
  /** In v1.21 it is the store that takes a link away, so that what is not stored shows the client's. */
  readonly keepsLink: boolean;
}

/** Metadata of an update: fields the client left out, and those that can never change back, come from the previous object. */
export function metadataForUpdate(
  next: ObjectMeta,
  previous: ObjectMeta,
  { namespaced, keepsLink }: UpdateOptions,
): ObjectMeta {
  const {
    namespace,
    selfLink = '',
    generation: _generation,
    clusterName: _clusterName,
    ...kept
  } = next as ObjectMeta & { selfLink?: string };
  return {
    ...kept,
    ...(namespaced && namespace !== undefined ? { namespace } : {}),
    ...(keepsLink && selfLink !== '' ? { selfLink } : {}),
    uid: kept.uid === undefined || kept.uid === '' ? (previous.uid ?? '') : kept.uid,
    ...resourceVersionOf(kept, previous),
    creationTimestamp: previous.creationTimestamp ?? null,
    ...(previous.generation === undefined ? {} : { generation: previous.generation }),
    ...stickyDeletion(kept, previous),
  };
}

/** An unconditional update is one of the object as it stands. */
function resourceVersionOf(next: ObjectMeta, previous: ObjectMeta): Partial<ObjectMeta> {
  const { resourceVersion = '' } = next;
  const version =
    resourceVersion === '' || resourceVersion === '0' ? previous.resourceVersion : resourceVersion;
  return version === undefined ? {} : { resourceVersion: version };
}

function stickyDeletion(next: ObjectMeta, previous: ObjectMeta): Partial<ObjectMeta> {
  if (!isTerminating(previous)) return {};
  const grace = next.deletionGracePeriodSeconds ?? previous.deletionGracePeriodSeconds;
  return {
    ...(previous.deletionTimestamp === undefined ? {} : { deletionTimestamp: previous.deletionTimestamp }),
    ...(grace === undefined ? {} : { deletionGracePeriodSeconds: grace }),
  };
}

export function isTerminating(meta: ObjectMeta): boolean {
  return meta.deletionTimestamp !== undefined && meta.deletionTimestamp !== null;
}

const NOT_DESIRED_STATE: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion']);

/** True when anything but metadata and (unless `countsStatus`) status differs: what counts for `metadata.generation`. */
export function desiredStateDiffers(next: ApiObject, previous: ApiObject, countsStatus = false): boolean {
  const names = new Set([...Object.keys(next), ...Object.keys(previous)]);
  if (!countsStatus) names.delete('status');
  return [...names].some((name) => !NOT_DESIRED_STATE.has(name) && !deepEqual(next[name], previous[name]));
}

/** A copy without the field `name` of metadata. */
export function withoutMetadata<T extends ApiObject>(object: T, name: keyof ObjectMeta): T {
  const { [name]: _removed, ...metadata } = object.metadata;
  return { ...object, metadata };
}
