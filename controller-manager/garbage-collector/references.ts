import type { ResourceRow } from '../../shared/client/discovery';
import type { ApiObject, OwnerReference } from '../../shared/object/object';

/** An object as the graph keeps it: only the metadata for identity, owners and deletion. */
export interface Located {
  readonly resource: ResourceRow;
  readonly object: ApiObject;
}

/** Returns the API group of a reference; empty for the core group. */
export function groupOf({ apiVersion }: Pick<OwnerReference, 'apiVersion'>): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}

/** Reports whether this object is the one that the dependent's reference names. The version does not matter. */
export function fits(reference: OwnerReference, dependent: ApiObject, owner: Located): boolean {
  return (
    owner.object.metadata.name === reference.name &&
    owner.resource.kind === reference.kind &&
    owner.resource.group === groupOf(reference) &&
    !isForeign(dependent, owner.object)
  );
}

/** Reports whether the owner is in another namespace than the dependent: ownership does not cross namespaces. */
export function isForeign(dependent: ApiObject, owner: ApiObject): boolean {
  const { namespace } = owner.metadata;
  return namespace !== undefined && namespace !== dependent.metadata.namespace;
}

/** Reports whether two states of an object name the same owners. */
export function sameOwners(before: ApiObject | undefined, after: ApiObject): boolean {
  const [old, now] = [before?.metadata.ownerReferences ?? [], after.metadata.ownerReferences ?? []];
  return (
    old.length === now.length &&
    now.every(({ uid, apiVersion, kind, name }, index) => {
      const other = old[index];
      return (
        uid === other?.uid && name === other.name && kind === other.kind && apiVersion === other.apiVersion
      );
    })
  );
}
