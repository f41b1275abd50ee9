import { getSelectorNames } from '../../../shared/conversion/conversions';
import { isReached } from '../../../shared/api-level';
import { defined } from '../../../shared/defined';
import { apiVersionOf } from '../../../shared/object/object';
import type { Endpoint, ResourceDefinition, StoredResource } from './resource';
import { storedResourceOf } from './resource';
import type { ResourceRow } from '../../../shared/api/resources';

/** The versions of one group, the preferred one first. */
export interface ServedGroup {
  readonly group: string;
  readonly versions: readonly string[];
}

/**
 * The served resources (the scheme), as an instance: routes, discovery and codecs are derived from it. A change of custom
 * resources makes a new registry with a higher generation.
 */
export interface Registry {
  readonly generation: number;
  readonly groups: readonly ServedGroup[];
  readonly stored: readonly StoredResource[];
  endpoint(group: string, version: string, resource: string): Endpoint | undefined;
  /** All endpoints of one group version in table order; empty when the group version is not served. */
  endpointsOf(group: string, version: string): readonly Endpoint[];
}

/** Creates a registry. Definitions are in discovery order: groups by priority, versions by preference. */
export function createRegistry(definitions: readonly ResourceDefinition[], generation: number): Registry {
  const stored = storedByPrefix(definitions);
  const endpoints = withVersions(definitions.map((each) => endpointOf(each, stored)));
  const byPath = new Map(endpoints.map((each) => [`${each.apiVersion}/${each.row.resource}`, each]));
  const byGroupVersion = byApiVersion(endpoints);
  return {
    generation,
    groups: groupsOf(endpoints),
    stored: withoutVirtual([...stored.values()], definitions),
    endpoint: (group, version, resource) => byPath.get(`${apiVersionOf({ group, version })}/${resource}`),
    endpointsOf: (group, version) => byGroupVersion.get(apiVersionOf({ group, version })) ?? [],
  };
}

/** Versions of a kind share a stored resource. */
function storedByPrefix(definitions: readonly ResourceDefinition[]): ReadonlyMap<string, StoredResource> {
  const found = new Map<string, StoredResource>();
  for (const definition of definitions) {
    const stored = storedResourceOf(definition);
    if (!found.has(stored.keyPrefix)) found.set(stored.keyPrefix, stored);
  }
  return found;
}

/** The resources that are stored. */
function withoutVirtual(
  stored: readonly StoredResource[],
  definitions: readonly ResourceDefinition[],
): readonly StoredResource[] {
  const virtual = definitions.filter((each) => each.virtual !== undefined).map(storedResourceOf);
  return stored.filter(({ keyPrefix }) => virtual.every((each) => each.keyPrefix !== keyPrefix));
}

/** Gives each endpoint the map of all versions of its kind. */
function withVersions(endpoints: readonly Omit<Endpoint, 'versions'>[]): readonly Endpoint[] {
  const versionsOf = new Map<StoredResource, Map<string, Endpoint>>();
  return endpoints.map((each) => {
    const versions = versionsOf.get(each.stored) ?? new Map<string, Endpoint>();
    versionsOf.set(each.stored, versions);
    const endpoint: Endpoint = { ...each, versions };
    versions.set(endpoint.apiVersion, endpoint);
    return endpoint;
  });
}

function endpointOf(
  definition: ResourceDefinition,
  storedResources: ReadonlyMap<string, StoredResource>,
): Omit<Endpoint, 'versions'> {
  const { row, type, servedSubresources, conversion, applyDefaults, specialSubresources, virtual, custom } =
    definition;
  const { table, hiddenAnnotations, explainMisfit } = definition;
  const own = storedResourceOf(definition);
  const served = row.subresources.filter((each) => servedSubresources.includes(each.name));
  const deprecation = definition.deprecation ?? deprecationOf(row);
  return {
    row,
    apiVersion: apiVersionOf(row),
    type,
    stored: storedResources.get(own.keyPrefix) ?? own,
    selectorNames: getSelectorNames(row),
    subresources: new Map(served.map((each) => [each.name, each])),
    ...defined({ conversion, applyDefaults, deprecation, specialSubresources, virtual, custom }),
    ...defined({ table, hiddenAnnotations, explainMisfit }),
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

/** The text of the Warning header for requests to a deprecated version; undefined for one that is not deprecated (yet). */
export function deprecationOf(row: ResourceRow): string | undefined {
  const { deprecated, removed, replacement } = row;
  if (deprecated === undefined || !isReached(deprecated)) return undefined;
  const gone = removed === undefined ? '' : `, unavailable in v${removed}+`;
  const instead = replacement === undefined ? '' : `; use ${apiVersionOf(replacement)} ${replacement.kind}`;
  return `${apiVersionOf(row)} ${row.kind} is deprecated in v${deprecated}+${gone}${instead}`;
}
