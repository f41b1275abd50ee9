import type { ApiObject, ResourceOf } from '../object/object';
import { ALL_LEVELS } from '../api-level';
import type { ResourceRow } from './resources';
import { RESOURCES, resourcesAt } from './resources';
import type { StoredKinds } from './types/message-types';

/** The resources of all groups that are stored, by name: `pods`, `leases`. */
type StoredResource = { [Group in keyof StoredKinds]: string & keyof StoredKinds[Group] }[keyof StoredKinds];

type ObjectOf<Resource extends StoredResource> = {
  [Group in keyof StoredKinds]: Resource extends keyof StoredKinds[Group]
    ? Extract<StoredKinds[Group][Resource], ApiObject>
    : never;
}[keyof StoredKinds];

/**
 * Group, version and name of each stored resource, with the type of its objects: `RESOURCE.pods`. The version is
 * the one in which the objects are stored at the API level of this process; of a resource that the level does not
 * have, the newest one. Computed from `data/resources.json`.
 */
export const RESOURCE = Object.fromEntries(
  [...resourcesAt(ALL_LEVELS), ...RESOURCES]
    .filter(isStored)
    .map(({ group, version, resource }) => [resource, { group, version, resource }]),
) as { readonly [Resource in StoredResource]: ResourceOf<ObjectOf<Resource>> };

function isStored({ group, version, hub }: ResourceRow): boolean {
  return group === hub.group && version === hub.version;
}
