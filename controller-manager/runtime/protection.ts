import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import type { ApiObject, GroupVersionResource } from '../../shared/object/object';
import type { MetadataChange } from './live-object';

const CONFLICT_TRIES_MAX = 5;

/** Reports whether the object is being deleted. */
export function isLeaving({ metadata }: ApiObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
}

/** Adds a finalizer to an object that is not being deleted. */
export function withFinalizer(finalizer: string): MetadataChange {
  return (metadata) => {
    const { finalizers = [] } = metadata;
    if (finalizers.includes(finalizer) || isLeaving({ metadata })) return undefined;
    return { finalizers: [...finalizers, finalizer] };
  };
}

/**
 * Changes the finalizers of exactly this object, and again after a conflict. A deleted object is left alone. It is an update because the
 * accounts of these controllers may not patch.
 */
export async function changeFinalizers(
  client: Client,
  target: {
    readonly resource: GroupVersionResource;
    readonly known: ApiObject;
    readonly change: MetadataChange;
  },
  signal: AbortSignal,
): Promise<void> {
  const { resource, known, change } = target;
  const { namespace, name = '', uid } = known.metadata;
  let current = known;
  for (let tries = 1; current.metadata.uid === uid; tries += 1) {
    const fields = change(current.metadata);
    if (fields === undefined) return;
    try {
      await client.update(resource, { ...current, metadata: { ...current.metadata, ...fields } }, { signal });
      return;
    } catch (error) {
      if (hasCode(error, 404)) return;
      if (!hasCode(error, 409) || tries === CONFLICT_TRIES_MAX) throw error;
    }
    try {
      current = await client.get<ApiObject>(resource, { namespace, name }, { signal });
    } catch (error) {
      if (hasCode(error, 404)) return;
      throw error;
    }
  }
}
