import { defined } from '../../../shared/defined';
import type { ApiObject, ObjectMeta } from '../../../shared/object/object';

/** What of an object's metadata is shown where a part of it is shown as an object of another kind. */
export function shownMetadata({ metadata }: ApiObject): ObjectMeta {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    ...defined({ name, namespace, uid, resourceVersion, creationTimestamp }),
  };
}

/** The object's metadata with what the shown one demands: a uid and a version are preconditions of the change. */
export function metadataWithDemands(object: ApiObject, shown: ApiObject): ObjectMeta {
  const { uid, resourceVersion = '' } = shown.metadata;
  return { ...object.metadata, ...defined({ uid }), resourceVersion };
}
