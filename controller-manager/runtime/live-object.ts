import type { Client } from '../../shared/client/client';
import { METADATA_ONLY } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import type { ApiObject, GroupVersionResource, ObjectMeta, ResourceOf } from '../../shared/object/object';
import { MEDIA_TYPE } from '../../shared/names';

const CONFLICT_TRIES_MAX = 5;

export interface ObjectAddress {
  readonly resource: GroupVersionResource;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid: string;
}

export function addressOf(resource: GroupVersionResource, { metadata }: ApiObject): ObjectAddress {
  const { namespace, name = '', uid = '' } = metadata;
  return { resource, namespace, name, uid };
}

/**
 * Returns the current object; undefined if it is gone or was replaced by another of its name. Throws if the response is ambiguous: a 404
 * that does not name the object is about its resource.
 */
export async function getLive(
  client: Client,
  { resource, namespace, name, uid }: ObjectAddress,
  signal: AbortSignal,
): Promise<ApiObject | undefined> {
  try {
    const live = await client.get(resource, { namespace, name }, { accept: METADATA_ONLY.object, signal });
    if (live.metadata.name !== name)
      throw new Error(`the answer is not the ${resource.resource} ${JSON.stringify(name)}`);
    return live.metadata.uid === uid ? live : undefined;
  } catch (error) {
    if (hasCode(error, 404) && error.status.details?.name === name) return undefined;
    throw error;
  }
}

/** Returns the metadata fields to write (an emptied list as null), or undefined to change nothing. */
export type MetadataChange = (
  metadata: ObjectMeta,
) => Partial<Pick<ObjectMeta, 'finalizers' | 'ownerReferences'>> | undefined;

/**
 * Changes the metadata of exactly this object by a merge patch with its version, and again from a live read after a conflict. A deleted
 * object is left alone. `known` saves the first read.
 */
export async function changeMetadata(
  client: Client,
  target: { readonly address: ObjectAddress; readonly known?: ApiObject; readonly change: MetadataChange },
  signal: AbortSignal,
): Promise<void> {
  const { address, change } = target;
  const { resource, namespace, name, uid } = address;
  let current = target.known ?? (await getLive(client, address, signal));
  for (let tries = 1; current !== undefined; tries += 1) {
    const fields = change(current.metadata);
    if (fields === undefined) return;
    const { resourceVersion } = current.metadata;
    const entries = Object.entries(fields).map(([key, list]) => [key, list.length === 0 ? null : list]);
    const body = { metadata: { ...Object.fromEntries(entries), uid, resourceVersion } };
    try {
      await client.patch(
        resource,
        { namespace, name },
        { contentType: MEDIA_TYPE.mergePatch, body },
        { signal },
      );
      return;
    } catch (error) {
      if (hasCode(error, 404)) return;
      if (!hasCode(error, 409) || tries === CONFLICT_TRIES_MAX) throw error;
    }
    current = await getLive(client, address, signal);
  }
}

/** Removes one finalizer. */
export function withoutFinalizer(finalizer: string): MetadataChange {
  return ({ finalizers = [] }) =>
    finalizers.includes(finalizer)
      ? { finalizers: finalizers.filter((each) => each !== finalizer) }
      : undefined;
}

/** Removes the references to these owners. */
export function withoutOwners(uids: ReadonlySet<string>): MetadataChange {
  return ({ ownerReferences = [] }) => {
    const rest = ownerReferences.filter(({ uid }) => !uids.has(uid));
    return rest.length === ownerReferences.length ? undefined : { ownerReferences: rest };
  };
}

/** Clears `blockOwnerDeletion` of this owner reference. */
export function withoutBlocking(owner: string): MetadataChange {
  return ({ ownerReferences = [] }) => {
    if (
      !ownerReferences.some(({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion === true)
    ) {
      return undefined;
    }
    return {
      ownerReferences: ownerReferences.map((reference) =>
        reference.uid === owner ? { ...reference, blockOwnerDeletion: false } : reference,
      ),
    };
  };
}

/** Writes the status; after a conflict once more, on the current object. An object that is gone is left alone. */
export async function writeStatus<T extends ApiObject & { readonly status?: object }>(
  client: Client,
  {
    resource,
    object,
    status,
  }: { readonly resource: ResourceOf<T>; readonly object: T; readonly status: object },
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name = '', uid } = object.metadata;
  try {
    await client.updateStatus<ApiObject>(resource, { ...object, status }, { signal });
  } catch (error) {
    if (hasCode(error, 404)) return;
    if (!hasCode(error, 409)) throw error;
    const fresh = await client.get(resource, { namespace, name }, { signal });
    if (fresh.metadata.uid === uid)
      await client.updateStatus<ApiObject>(resource, { ...fresh, status }, { signal });
  }
}
