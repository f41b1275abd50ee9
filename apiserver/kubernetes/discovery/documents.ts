import type { APIResource, APIResourceList } from '../../../shared/api/types/meta-v1';
import { apiVersionOf } from '../../../shared/object/object';
import type { SubresourceRow } from '../../../shared/api/resources';
import type { Registry, ServedGroup } from '../../engine/registry/registry';
import type { Endpoint } from '../../engine/registry/resource';
import type { AggregatedVersion } from './group-order';
import { orderedGroups } from './group-order';
import { storageVersionHash } from './storage-version';

/** Discovery documents of meta/v1, from which clients learn the served resources. All are derived from the registry. */

/** `/api`. `serverAddress` is the address of this server for clients outside of the cluster. */
export function apiVersions(registry: Registry, serverAddress: string): object {
  const core = registry.groups.find(({ group }) => group === '');
  return {
    kind: 'APIVersions',
    versions: core?.versions ?? [],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** `/apis`. */
export function apiGroupList(registry: Registry, aggregated: readonly AggregatedVersion[] = []): object {
  const groups = orderedGroups(registry, aggregated)
    .filter(({ group }) => group !== '')
    .map(groupBody);
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** `/apis/{group}`; undefined for a group that is not served. */
export function apiGroup(
  registry: Registry,
  name: string,
  aggregated: readonly AggregatedVersion[] = [],
): object | undefined {
  const found = orderedGroups(registry, aggregated).find(({ group }) => group === name && group !== '');
  return found === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupBody(found) };
}

function groupBody({ group, versions }: ServedGroup): object {
  const entries = versions.map((version) => ({ groupVersion: apiVersionOf({ group, version }), version }));
  return { name: group, versions: entries, preferredVersion: entries[0] };
}

/** A version, and whether its resource list has storage version hashes. */
interface ListedVersion {
  readonly group: string;
  readonly version: string;
  readonly isHashed: boolean;
}

/** `/api/v1` and `/apis/{group}/{version}`; undefined for a version that is not served. */
export function apiResourceList(
  registry: Registry,
  { group, version, isHashed }: ListedVersion,
): APIResourceList | undefined {
  const endpoints = registry.endpointsOf(group, version);
  if (endpoints.length === 0) return undefined;
  const resources = endpoints
    .toSorted((a, b) => (a.row.resource < b.row.resource ? -1 : 1))
    .flatMap((endpoint) => [
      isHashed ? withHash(endpoint, registry) : resourceOf(endpoint),
      ...subresourcesOf(endpoint),
    ]);
  return {
    kind: 'APIResourceList',
    // Upstream omits the apiVersion in the groups from before API groups existed.
    ...(group === '' || group === 'extensions' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group, version }),
    resources,
  };
}

function withHash(endpoint: Endpoint, registry: Registry): APIResource {
  const { row, stored } = endpoint;
  const body = resourceOf(endpoint);
  if (!hasHash(endpoint, registry)) return body;
  return { ...body, storageVersionHash: storageVersionHash({ ...stored, version: row.hub.version }) };
}

function resourceOf({ row }: Endpoint): APIResource {
  return {
    name: row.resource,
    singularName: row.singularName,
    namespaced: row.namespaced,
    kind: row.kind,
    verbs: row.verbs,
    ...(row.shortNames.length === 0 ? {} : { shortNames: row.shortNames }),
    ...(row.categories.length === 0 ? {} : { categories: row.categories }),
  };
}

/** Resources that are not stored have no hash, nor do custom resources whose storage version is not served. */
function hasHash({ row, custom, virtual }: Endpoint, registry: Registry): boolean {
  if (custom === undefined) return virtual === undefined;
  return registry.endpoint(row.group, row.hub.version, row.resource) !== undefined;
}

function subresourcesOf({ row, subresources, custom }: Endpoint): readonly APIResource[] {
  const all = [...subresources.values()];
  // Upstream lists the status of a custom resource before its scale, and all others by name.
  const listed = custom === undefined ? all.toSorted((a, b) => (a.name < b.name ? -1 : 1)) : all;
  return listed.map((each) => ({
    name: `${row.resource}/${each.name}`,
    singularName: '',
    namespaced: row.namespaced,
    ...otherGroupVersion(row, each),
    kind: each.kind,
    verbs: each.verbs,
  }));
}

/** Returns group and version only if the subresource's kind is in another group (Scale, Eviction). */
function otherGroupVersion(
  row: Endpoint['row'],
  each: SubresourceRow,
): Pick<APIResource, 'group' | 'version'> {
  if (each.group === row.group && each.version === row.version) return {};
  return { group: each.group, version: each.version };
}
