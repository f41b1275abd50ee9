import { defined } from '../../../shared/defined';
import type { ApiObject, ObjectMeta } from '../../../shared/object/object';

/** The metadata of a view of an object. */
export function shownMetadata({ metadata }: ApiObject): ObjectMeta {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    ...defined({ name, namespace, uid, resourceVersion, creationTimestamp }),
  };
}

/**
 * The object's metadata with the uid and the resourceVersion of the shown object, which are preconditions.
 */
export function metadataWithDemands(object: ApiObject, shown: ApiObject): ObjectMeta {
  const { uid, resourceVersion = '' } = shown.metadata;
  return { ...object.metadata, ...defined({ uid }), resourceVersion };
}
