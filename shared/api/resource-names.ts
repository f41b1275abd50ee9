import type { ApiObject, ResourceOf } from '../object/object';
import { RESOURCES } from './resources';
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
 * the one in which the objects are stored. Computed from `data/resources.json`.
 */
export const RESOURCE = Object.fromEntries(
  RESOURCES.filter(({ group, version, hub }) => group === hub.group && version === hub.version).map(
    ({ group, version, resource }) => [resource, { group, version, resource }],
  ),
) as { readonly [Resource in StoredResource]: ResourceOf<ObjectOf<Resource>> };
