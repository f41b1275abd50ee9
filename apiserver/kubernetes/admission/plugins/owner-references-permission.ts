import type { ResourceName } from '../../cluster/cluster-reader';
import { deepEqual } from '../../../../shared/object/clone';
import type { ApiObject, GroupVersionKind, OwnerReference } from '../../../../shared/object/object';
import { parseGroupVersion } from '../../../../shared/api/resources';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { Authorizer } from '../../../engine/request/access';
import type { AdmissionPlugin } from '../plugin';
import { refusal } from '../refusal';

const ANYTHING = {
  verb: 'update',
  group: '*',
  resource: '*',
  subresource: 'finalizers',
  namespace: '',
  name: '*',
} as const;

/** Returns the resource of a kind; undefined if it is not served. */
export type ResourceOfKind = (
  kind: GroupVersionKind,
) => (ResourceName & { readonly namespaced: boolean }) | undefined;

/**
 * Deleting an owner deletes its dependents, and a dependent can block its owner. So changing owners requires `delete` on the object, and
 * `blockOwnerDeletion` requires `update` on the owner's finalizers. A creation may name any owner.
 */
export function ownerReferencesPermission(
  authorize: Authorizer,
  resourceOfKind: ResourceOfKind,
): AdmissionPlugin {
  const allows = async (
    { write: { user } }: AdmissionAttributes,
    about: ResourceName & {
      readonly verb: string;
      readonly namespace: string;
      readonly name: string;
      readonly subresource: string;
    },
    signal: AbortSignal,
  ): Promise<boolean> => {
    const { group, ...rest } = about;
    const question = { ...rest, user, isResourceRequest: true, path: '', apiGroup: group, apiVersion: '*' };
    return (await authorize(question, signal)).decision === 'allow';
  };

  return {
    // The status is written by the component that works on the object; a kubelet may not delete its pods.
    concerns: ({ operation, group, resource, subresource }) =>
      (operation === 'CREATE' || operation === 'UPDATE') &&
      !(group === '' && resource === 'pods' && subresource === 'status'),
    async validate(attributes, _cluster, signal) {
      const { operation, object, oldObject } = attributes;
      const { endpoint, namespace } = attributes.write;
      const owners = ownersOf(object);
      const before = ownersOf(oldObject);
      if (object === undefined || deepEqual(owners, before)) return;
      const { group, resource } = endpoint.row;
      const self = { group, resource, namespace, subresource: '', name: object.metadata.name ?? '' };
      const isNew = operation === 'CREATE';
      if (!isNew && !(await allows(attributes, { ...self, verb: 'delete' }, signal))) {
        throw refusal(attributes, "cannot set an ownerRef on a resource you can't delete");
      }
      const blocked = newlyBlocked(owners, before);
      // A user with cluster-wide permission may also name an owner of a kind that is not served.
      if (blocked.length === 0 || (await allows(attributes, ANYTHING, signal))) return;
      for (const owner of blocked) {
        const kind = { ...parseGroupVersion(owner.apiVersion), kind: owner.kind };
        const of = resourceOfKind(kind);
        // Permissions for a cluster-scoped owner are cluster-wide.
        const place = of?.namespaced === true ? namespace : '';
        const about = { namespace: place, subresource: 'finalizers', name: owner.name, verb: 'update' };
        if (of === undefined || !(await allows(attributes, { ...about, ...named(of) }, signal))) {
          throw refusal(
            attributes,
            "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on",
          );
        }
      }
    },
  };
}

function named({ group, resource }: ResourceName): ResourceName {
  return { group, resource };
}

function ownersOf(object: ApiObject | undefined): readonly OwnerReference[] {
  return object?.metadata.ownerReferences ?? [];
}

/** Returns the owner references that start to block with this write. */
function newlyBlocked(
  owners: readonly OwnerReference[],
  before: readonly OwnerReference[],
): readonly OwnerReference[] {
  const waiting = new Set(before.filter(isBlocked).map(({ uid }) => uid));
  return owners.filter((owner) => isBlocked(owner) && !waiting.has(owner.uid));
}

function isBlocked({ blockOwnerDeletion }: OwnerReference): boolean {
  return blockOwnerDeletion === true;
}
