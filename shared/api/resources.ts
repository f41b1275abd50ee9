import { defined } from '../defined';
import type { GroupVersion, GroupVersionKind } from '../object/object';
import { apiVersionFromNeutral, GROUP } from '../names';
import type { AnyLevel } from '../api-level';
import { isAtLevel, rowAtLevel } from '../api-level';
import type { ResourceData, SubresourceData } from './tables';
import { RESOURCE_DATA } from './tables';
import { ownKeyMap } from '../own-key-map';

export interface SubresourceRow {
  readonly name: string;
  readonly kind: string;
  /** Group of the kind on the wire, which may differ from that of the resource (`Scale`, `Eviction`). */
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
  /** The message of the kind: `autoscaling/v1.Scale`. */
  readonly schema: string;
}

export interface ResourceRow {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  /** Empty for a resource that cannot be listed. */
  readonly listKind: string;
  /** Empty for built-in resources before the release in which discovery publishes it. */
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly SubresourceRow[];
  /**
   * Releases, as `1.21`: the first one that has it, the first one that deprecates it, the first one without
   * it.
   */
  readonly introduced?: string;
  readonly deprecated?: string;
  readonly removed?: string;
  readonly replacement?: GroupVersionKind;
  /** The message of the kind: `core/v1.Pod`. */
  readonly schema: string;
  /** False for versions that `--runtime-config` enables. */
  readonly isServedByDefault: boolean;
  /** The feature gate without which it is not served. */
  readonly gate?: string;
  /** Hub: the version in which objects of this resource are stored, and the group for a kind in two groups. */
  readonly hub: GroupVersion;
}

/** Hubs in another group than the resource's own: a kind in two groups has one hub. */
const HUBS = ownKeyMap<GroupVersion>({
  [`${GROUP.events}/events`]: { group: GROUP.core, version: 'v1' },
  [`${GROUP.extensions}/ingresses`]: { group: GROUP.networking, version: 'v1' },
});

/** A HorizontalPodAutoscaler is stored in a version that has fields instead of annotations. */
const HUB_ORDER = [
  'v2',
  'v2beta2',
  'v1',
  'v1beta3',
  'v1beta2',
  'v1beta1',
  'v1alpha3',
  'v1alpha2',
  'v1alpha1',
];

/** Discovery publishes singular names of built-in resources since this release. */
const SINGULAR_NAMES = { since: '1.27' };

const dialectGroupVersions = new Map<string, GroupVersion>();

/** The resources by API version in the names of the dialect. */
const TABLES = new Map(
  Object.entries(RESOURCE_DATA).map(([neutral, resources]) => [apiVersionFromNeutral(neutral), resources]),
);

/** Every resource of every group version at the API level of this process, in the names of its dialect. */
export const RESOURCES: readonly ResourceRow[] = resourcesAt();

/** Returns the resources of a level, by default that of this process. */
export function resourcesAt(level?: AnyLevel): readonly ResourceRow[] {
  return Object.entries(RESOURCE_DATA).flatMap(([groupVersion, resources]) =>
    Object.entries(resources)
      .filter(([, data]) => isAtLevel(data, level))
      .map(([resource, data]) =>
        resourceRow(groupVersion, resource, { data: rowAtLevel(data, level), level }),
      ),
  );
}

const byName = new Map(RESOURCES.map((row) => [keyOf(row, row.resource), row]));

/** Returns the row of a built-in resource, or undefined. */
export function resourceOf(groupVersion: GroupVersion, resource: string): ResourceRow | undefined {
  return byName.get(keyOf(groupVersion, resource));
}

/** Parses `group/version`, or `v1` alone for the core group. */
export function parseGroupVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf('/');
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}

function keyOf({ group, version }: GroupVersion, resource: string): string {
  return `${group}/${version}/${resource}`;
}

function resourceRow(
  neutralGroupVersion: string,
  resource: string,
  { data, level }: { readonly data: ResourceData; readonly level: AnyLevel | undefined },
): ResourceRow {
  const groupVersion = dialectGroupVersion(neutralGroupVersion);
  return {
    ...groupVersion,
    resource,
    kind: data.kind,
    listKind: data.verbs.includes('list') ? `${data.kind}List` : '',
    singularName: isAtLevel(SINGULAR_NAMES, level) ? (data.singular ?? '') : '',
    namespaced: data.namespaced,
    verbs: data.verbs,
    shortNames: data.shortNames ?? [],
    categories: data.categories ?? [],
    subresources: Object.entries(data.subresources ?? {})
      .filter(([, each]) => isAtLevel(each, level))
      .map(([name, each]) =>
        subresourceRow(name, rowAtLevel(each, level), { groupVersion, schema: data.schema }),
      ),
    ...lifecycle(data),
    ...defined({ gate: data.gate }),
    schema: data.schema,
    isServedByDefault: data.offByDefault !== true,
    hub: hubOf(groupVersion, resource, level),
  };
}

function dialectGroupVersion(neutral: string): GroupVersion {
  const known = dialectGroupVersions.get(neutral);
  if (known !== undefined) return known;
  const groupVersion = parseGroupVersion(apiVersionFromNeutral(neutral));
  dialectGroupVersions.set(neutral, groupVersion);
  return groupVersion;
}

function subresourceRow(
  name: string,
  data: SubresourceData,
  parent: { readonly groupVersion: GroupVersion; readonly schema: string },
): SubresourceRow {
  const groupVersion =
    data.groupVersion === undefined ? parent.groupVersion : dialectGroupVersion(data.groupVersion);
  const packageName =
    data.groupVersion === undefined
      ? parent.schema.slice(0, parent.schema.lastIndexOf('.'))
      : packageOf(groupVersion);
  return { name, kind: data.kind, ...groupVersion, verbs: data.verbs, schema: `${packageName}.${data.kind}` };
}

/** Returns the schema's package of a built-in group version: `core/v1`, `rbac/v1beta1`. */
export function packageOf({ group, version }: GroupVersion): string {
  const name = Object.entries(GROUP).find(([, each]) => each === group)?.[0] ?? group;
  return `${name}/${version}`;
}

function lifecycle(data: ResourceData): Partial<ResourceRow> {
  const { introduced, deprecated, removed, replacement } = data;
  const [apiVersion = '', kind = ''] = replacement?.split(' ') ?? [];
  return {
    ...defined({ introduced, deprecated, removed }),
    ...(replacement === undefined ? {} : { replacement: { ...dialectGroupVersion(apiVersion), kind } }),
  };
}

function hubOf(own: GroupVersion, resource: string, level: AnyLevel | undefined): GroupVersion {
  const exception = HUBS.get(`${own.group}/${resource}`);
  if (exception !== undefined) return exception;
  const version = HUB_ORDER.find((each) => {
    const data = TABLES.get(own.group === '' ? each : `${own.group}/${each}`)?.[resource];
    return data !== undefined && isAtLevel(data, level);
  });
  return { group: own.group, version: version ?? own.version };
}
