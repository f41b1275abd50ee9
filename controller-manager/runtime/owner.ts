import type { GroupVersionResource, ObjectMeta, OwnerReference } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';

/** A kind with the resource by which it is served. */
export interface KindOfResource extends GroupVersionResource {
  readonly kind: string;
}

/** Returns the reference to the owner that manages the object, as `metav1.GetControllerOf` does. */
export function ownerOf({ metadata }: { readonly metadata: ObjectMeta }): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** Reports whether this object manages the other one. */
export function isOwnedBy(
  child: { readonly metadata: ObjectMeta },
  parent: { readonly metadata: ObjectMeta },
): boolean {
  const owner = ownerOf(child);
  return owner !== undefined && owner.uid === parent.metadata.uid;
}

/** Returns the owner reference by which a controller marks what it creates, as `metav1.NewControllerRef` does. */
export function ownerReferenceTo(
  resource: KindOfResource,
  { metadata }: { readonly metadata: ObjectMeta },
): OwnerReference {
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** Reports whether the deletion of the object has begun. */
export function isBeingDeleted({ metadata }: { readonly metadata: ObjectMeta }): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
}
