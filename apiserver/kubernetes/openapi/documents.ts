import type { GroupVersion } from '../../../shared/object/object';
import { apiVersionOf } from '../../../shared/object/object';
import type { Registry } from '../../engine/registry/registry';
import type { Endpoint } from '../../engine/registry/resource';
import { groupId, groupTag, groupVersionId } from './names';
import type { Operation } from './operations';
import { OBJECT_TYPES, operationsOf } from './operations';

/** A part of the API with its own v3 document; the v2 document consists of all parts. */
export interface Part {
  /** The path without its leading slash: `api/v1`, `apis/apps/v1`, `version`. */
  readonly name: string;
  readonly operations: () => readonly Operation[];
}

/** Input of the documents besides the registry. */
export interface DocumentOptions {
  /** The version of the server. */
  readonly version: string;
  /** Identifies the code of the server; absent for code with changes since its last commit. */
  readonly commit?: string | undefined;
  /** Whether server-side apply is enabled. */
  readonly serverSideApply: boolean;
  /** Whether documents of v3 have the allowed values of fields. */
  readonly enums: boolean;
}

/** The part of a registry that the documents need. */
export type Served = Pick<Registry, 'groups' | 'endpointsOf'>;

/** Returns the registry without custom resources; it never changes while the process runs. */
export function builtInOf(registry: Registry): Served {
  const endpointsOf: Served['endpointsOf'] = (group, version) =>
    registry.endpointsOf(group, version).filter(({ custom }) => custom === undefined);
  const groups = registry.groups
    .map(({ group, versions }) => ({
      group,
      versions: versions.filter((version) => endpointsOf(group, version).length > 0),
    }))
    .filter(({ versions }) => versions.length > 0);
  return { groups, endpointsOf };
}

/** Returns the group versions with custom resources, and their endpoints. */
export function customEndpoints(registry: Registry): ReadonlyMap<string, readonly Endpoint[]> {
  const endpoints = servedVersions(registry).map(({ group, version }): [string, readonly Endpoint[]] => [
    `apis/${apiVersionOf({ group, version })}`,
    registry.endpointsOf(group, version).filter(({ custom }) => custom !== undefined),
  ]);
  return new Map(endpoints.filter(([, ofVersion]) => ofVersion.length > 0));
}

/** Returns all parts of a built-in API: discovery and one per group version. */
export function partsOf(registry: Served, options: DocumentOptions): readonly Part[] {
  return [
    discoveryPart({ name: 'version', message: 'version.Info', id: 'getCodeVersion', tag: 'version' }),
    discoveryPart({ name: 'api', message: 'meta/v1.APIVersions', id: 'getCoreAPIVersions', tag: 'core' }),
    discoveryPart({ name: 'apis', message: 'meta/v1.APIGroupList', id: 'getAPIVersions', tag: 'apis' }),
    ...registry.groups
      .filter(({ group }) => group !== '')
      .map(({ group }) =>
        discoveryPart({
          name: `apis/${group}`,
          message: 'meta/v1.APIGroup',
          id: `get${groupId(group)}APIGroup`,
          tag: groupTag(group),
        }),
      ),
    ...servedVersions(registry).map((each) => groupVersionPart(registry, each, options)),
  ];
}

/** Returns every served group version. */
export function servedVersions(registry: Served): readonly GroupVersion[] {
  return registry.groups.flatMap(({ group, versions }) => versions.map((version) => ({ group, version })));
}

function groupVersionPart(
  registry: Served,
  groupVersion: GroupVersion,
  { serverSideApply }: DocumentOptions,
): Part {
  const { group, version } = groupVersion;
  const name = `${group === '' ? 'api' : 'apis'}/${apiVersionOf(groupVersion)}`;
  const resources = {
    name,
    message: 'meta/v1.APIResourceList',
    id: `get${groupVersionId(group, version)}APIResources`,
    tag: `${groupTag(group)}_${version}`,
  };
  return {
    name,
    operations: () => [
      discoveryOperation(resources),
      ...registry.endpointsOf(group, version).flatMap((endpoint) => operationsOf(endpoint, serverSideApply)),
    ],
  };
}

interface DiscoveryDocument {
  readonly name: string;
  readonly message: string;
  readonly id: string;
  readonly tag: string;
}

function discoveryPart(document: DiscoveryDocument): Part {
  return { name: document.name, operations: () => [discoveryOperation(document)] };
}

function discoveryOperation({ name, message, id, tag }: DiscoveryDocument): Operation {
  return {
    path: `/${name}/`,
    method: 'get',
    id,
    tag,
    query: [],
    consumes: OBJECT_TYPES,
    produces: OBJECT_TYPES,
    codes: [200],
    answer: message,
  };
}

/** Returns the messages that the operations reference. */
export function messagesOf(operations: readonly Operation[]): readonly string[] {
  return operations.flatMap(({ answer, body }) => [
    ...(answer === undefined ? [] : [answer]),
    ...(body === undefined ? [] : [body.message]),
  ]);
}

/** Groups the operations by path. */
export function byPath(operations: readonly Operation[]): ReadonlyMap<string, readonly Operation[]> {
  const grouped = new Map<string, Operation[]>();
  for (const operation of operations) {
    const known = grouped.get(operation.path);
    if (known === undefined) grouped.set(operation.path, [operation]);
    else known.push(operation);
  }
  return grouped;
}
