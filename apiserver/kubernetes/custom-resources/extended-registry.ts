import { apiVersionOf } from '../../../shared/object/object';
import { byVersionPriority } from '../../../shared/meta/version-priority';
import type { Registry, ServedGroup } from '../../engine/registry/registry';
import type { Endpoint, StoredResource } from '../../engine/registry/resource';
import type { CustomEndpoints } from './custom-endpoints';

/**
 * Extends the built-in registry by custom resources, keyed by definition name (`<plural>.<group>`). Built-in group versions win. The
 * constructor is cheap, because indexes over all definitions are built on first use.
 */
export function extendedRegistry(
  builtIn: Registry,
  custom: ReadonlyMap<string, CustomEndpoints>,
  generation: number,
): Registry {
  let index: Index | undefined;
  let stored: readonly StoredResource[] | undefined;
  const indexed = (): Index => (index ??= indexOf(builtIn, custom));
  return {
    generation,
    get groups() {
      return indexed().groups;
    },
    get stored() {
      stored ??= [...builtIn.stored, ...[...custom.values()].map((each) => each.stored)];
      return stored;
    },
    endpoint: (group, version, resource) => {
      if (isBuiltIn(builtIn, group, version)) return builtIn.endpoint(group, version, resource);
      const found = custom.get(`${resource}.${group}`);
      return found?.served.find(({ row }) => row.version === version);
    },
    endpointsOf: (group, version) => {
      if (isBuiltIn(builtIn, group, version)) return builtIn.endpointsOf(group, version);
      return indexed().endpoints.get(apiVersionOf({ group, version })) ?? [];
    },
  };
}

interface Index {
  readonly groups: readonly ServedGroup[];
  /** Endpoints of custom resources by apiVersion, sorted by name. */
  readonly endpoints: ReadonlyMap<string, readonly Endpoint[]>;
}

function isBuiltIn(builtIn: Registry, group: string, version: string): boolean {
  return builtIn.endpointsOf(group, version).length > 0;
}

function indexOf(builtIn: Registry, custom: ReadonlyMap<string, CustomEndpoints>): Index {
  const endpoints = new Map<string, Endpoint[]>();
  const versions = new Map<string, Set<string>>();
  for (const name of [...custom.keys()].sort()) {
    for (const endpoint of custom.get(name)?.served ?? []) {
      const { group, version } = endpoint.row;
      if (isBuiltIn(builtIn, group, version)) continue;
      const list = endpoints.get(endpoint.apiVersion);
      if (list === undefined) endpoints.set(endpoint.apiVersion, [endpoint]);
      else list.push(endpoint);
      versions.set(group, (versions.get(group) ?? new Set()).add(version));
    }
  }
  return { endpoints, groups: groupsOf(builtIn, versions) };
}

/** A built-in group may have further versions from definitions. */
function groupsOf(
  builtIn: Registry,
  versions: ReadonlyMap<string, ReadonlySet<string>>,
): readonly ServedGroup[] {
  const known = new Set(builtIn.groups.map(({ group }) => group));
  const ordered = (group: string): readonly string[] =>
    [...(versions.get(group) ?? [])].toSorted(byVersionPriority);
  return [
    ...builtIn.groups.map((each) => ({ ...each, versions: [...each.versions, ...ordered(each.group)] })),
    ...[...versions.keys()]
      .filter((group) => !known.has(group))
      .sort()
      .map((group) => ({ group, versions: ordered(group) })),
  ];
}
