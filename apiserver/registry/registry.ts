import { apiVersionOf } from '../../shared/meta/object';
import type { Endpoint, ResourceDefinition, StoredResource } from './resource';
import { storedResourceOf } from './resource';

/** The versions of one group, the preferred one first. */
export interface ServedGroup {
  readonly group: string;
  readonly versions: readonly string[];
}

/**
 * What this server serves, as an instance: routes, discovery and codecs are derived from it. A change (custom resources, later)
 * makes a new registry with a higher generation.
 */
export interface Registry {
  readonly generation: number;
  readonly groups: readonly ServedGroup[];
  readonly stored: readonly StoredResource[];
  endpoint(group: string, version: string, resource: string): Endpoint | undefined;
  /** All endpoints of one group version in table order; empty when the group version is not served. */
  endpointsOf(group: string, version: string): readonly Endpoint[];
}

/** Rows come in the order in which discovery shows groups and, within one, versions by preference. */
export function createRegistry(definitions: readonly ResourceDefinition[], generation: number): Registry {
  const endpoints = definitions.map(endpointOf);
  const byPath = new Map(endpoints.map((each) => [`${each.apiVersion}/${each.row.resource}`, each]));
  const byGroupVersion = byApiVersion(endpoints);
  return {
    generation,
    groups: groupsOf(endpoints),
    stored: endpoints.map((each) => each.stored),
    endpoint: (group, version, resource) => byPath.get(`${apiVersionOf({ group, version })}/${resource}`),
    endpointsOf: (group, version) => byGroupVersion.get(apiVersionOf({ group, version })) ?? [],
  };
}

function endpointOf(definition: ResourceDefinition): Endpoint {
  const { row, type, servedSubresources } = definition;
  const served = row.subresources.filter((each) => servedSubresources.includes(each.name));
  return {
    row,
    apiVersion: apiVersionOf(row),
    type,
    stored: storedResourceOf(definition),
    subresources: new Map(served.map((each) => [each.name, each])),
  };
}

function byApiVersion(endpoints: readonly Endpoint[]): ReadonlyMap<string, readonly Endpoint[]> {
  const grouped = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    const list = grouped.get(endpoint.apiVersion);
    if (list === undefined) grouped.set(endpoint.apiVersion, [endpoint]);
    else list.push(endpoint);
  }
  return grouped;
}

function groupsOf(endpoints: readonly Endpoint[]): readonly ServedGroup[] {
  const versions = new Map<string, Set<string>>();
  for (const { row } of endpoints) {
    const seen = versions.get(row.group) ?? new Set();
    versions.set(row.group, seen.add(row.version));
  }
  return [...versions].map(([group, set]) => ({ group, versions: [...set] }));
}
