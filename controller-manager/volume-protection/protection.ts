import type { ApiObject } from '../../shared/meta/object';
import type { MetadataChange } from '../garbage-collector/live-object';

/** Whether the object is being deleted. */
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
