import type { ApiObject, ObjectMeta } from '../../../shared/object/object';
import { formatTime } from '../../../shared/meta/time';
import type { Writable } from '../../../shared/object/values';
import { isSemanticallyEqual } from '../../../shared/schema/same-meaning';
import type { MessageType } from '../../../shared/schema/types';

/**
 * Metadata that the server sets. Source: rest.WipeObjectMetaSystemFields, rest.BeforeCreate and
 * rest.BeforeUpdate, v1.36.
 */

/** Whole seconds in UTC, the form of every timestamp in metadata. */
export function timestamp(epochMs: number): string {
  return formatTime(epochMs);
}

export interface NewIdentity {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly uid: string;
  readonly creationTimestamp: string;
  readonly generation: number | undefined;
}

/** Removes the fields that a client may not choose for a new object. A mutating webhook may set some of them. */
export function wipeSystemMetadata(meta: ObjectMeta): ObjectMeta {
  const {
    uid: _uid,
    selfLink: _selfLink,
    deletionTimestamp: _deletionTimestamp,
    deletionGracePeriodSeconds: _grace,
    ...kept
  } = meta;
  return { ...kept, creationTimestamp: null };
}

/** Metadata of a new object after mutation. */
export function metadataForCreate(meta: ObjectMeta, identity: NewIdentity): ObjectMeta {
  const { selfLink: _selfLink, clusterName: _clusterName, namespace: _namespace, ...kept } = meta;
  const made: Writable<ObjectMeta> = kept;
  made.name = identity.name;
  if (identity.namespace !== undefined) made.namespace = identity.namespace;
  made.uid = identity.uid;
  made.creationTimestamp = identity.creationTimestamp;
  if (identity.generation !== undefined) made.generation = identity.generation;
  return made;
}

export interface UpdateOptions {
  /** The namespace of the request; undefined if the kind has none. */
  readonly namespace: string | undefined;
  /** In v1.21 the store removes a selfLink, so a dry run shows that of the client. */
  readonly keepsLink: boolean;
}

/** Metadata of an update: absent fields and immutable ones come from the previous object. */
export function metadataForUpdate(
  next: ObjectMeta,
  previous: ObjectMeta,
  { namespace, keepsLink }: UpdateOptions,
): ObjectMeta {
  const {
    namespace: _namespace,
    selfLink = '',
    generation: _generation,
    clusterName: _clusterName,
    ...kept
  } = next;
  const made: Writable<ObjectMeta> = kept;
  if (namespace !== undefined) made.namespace = namespace;
  if (keepsLink && selfLink !== '') made.selfLink = selfLink;
  made.uid = kept.uid === undefined || kept.uid === '' ? (previous.uid ?? '') : kept.uid;
  setResourceVersion(made, previous);
  made.creationTimestamp = previous.creationTimestamp ?? null;
  if (previous.generation !== undefined) made.generation = previous.generation;
  if (isTerminating(previous)) keepDeletion(made, previous);
  return made;
}

/** An update without resourceVersion applies to the current object. */
function setResourceVersion(made: Writable<ObjectMeta>, previous: ObjectMeta): void {
  const { resourceVersion = '' } = made;
  if ((resourceVersion === '' || resourceVersion === '0') && previous.resourceVersion !== undefined) {
    made.resourceVersion = previous.resourceVersion;
  }
}

function keepDeletion(made: Writable<ObjectMeta>, previous: ObjectMeta): void {
  const grace = made.deletionGracePeriodSeconds ?? previous.deletionGracePeriodSeconds;
  if (previous.deletionTimestamp !== undefined) made.deletionTimestamp = previous.deletionTimestamp;
  if (grace !== undefined) made.deletionGracePeriodSeconds = grace;
}

export function isTerminating(meta: ObjectMeta): boolean {
  return meta.deletionTimestamp !== undefined && meta.deletionTimestamp !== null;
}

const NOT_DESIRED_STATE: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion']);

/**
 * Whether anything but metadata and (unless `countsStatus`) status differs: what increments
 * `metadata.generation`.
 */
export function desiredStateDiffers(
  type: MessageType,
  next: ApiObject,
  previous: ApiObject,
  countsStatus = false,
): boolean {
  const desired = (object: ApiObject): object =>
    Object.fromEntries(
      Object.entries(object).filter(
        ([name]) => !NOT_DESIRED_STATE.has(name) && (countsStatus || name !== 'status'),
      ),
    );
  return !isSemanticallyEqual(type, desired(next), desired(previous));
}

/** A copy without the field `name` of metadata. */
export function withoutMetadata<T extends ApiObject>(object: T, name: keyof ObjectMeta): T {
  const { [name]: _removed, ...metadata } = object.metadata;
  return { ...object, metadata };
}
