import type { GroupVersion } from '../../../shared/object/object';
import { GROUPS } from '../../../shared/api/groups';
import { GROUP } from '../../../shared/names';
import { byVersionPriority } from '../../../shared/meta/version-priority';
import type { Registry, ServedGroup } from '../../engine/registry/registry';

/** The order of groups and versions, as in their APIServices. */
export interface Priority {
  /** Groups are sorted in descending order. */
  readonly groupPriorityMinimum: number;
  /** Versions within a group are sorted in descending order. */
  readonly versionPriority: number;
}

/** Groups of custom resources come last; their versions are ordered by their names. */
const CUSTOM_PRIORITY: Priority = { groupPriorityMinimum: 1000, versionPriority: 100 };

const BUILT_IN: ReadonlyMap<string, Priority> = new Map(
  GROUPS.flatMap(({ group, priority, versions }) =>
    versions.map(({ version, priority: versionPriority }): [string, Priority] => [
      `${version}.${group}`,
      { groupPriorityMinimum: priority, versionPriority },
    ]),
  ),
);

export function priorityOf({ group, version }: GroupVersion): Priority {
  return BUILT_IN.get(`${version}.${group}`) ?? CUSTOM_PRIORITY;
}

/** A group version of an extension API server. */
export interface AggregatedVersion extends GroupVersion, Priority {}

const ordered = new WeakMap<Registry, readonly ServedGroup[]>();

/**
 * Returns the served groups in discovery order, each with its preferred version first. The order is that of their APIServices; the group
 * of the APIServices itself comes first.
 */
export function orderedGroups(
  registry: Registry,
  aggregated: readonly AggregatedVersion[] = [],
): readonly ServedGroup[] {
  if (aggregated.length > 0) return order(registry.groups, aggregated);
  const known = ordered.get(registry);
  if (known !== undefined) return known;
  const made = order(registry.groups);
  ordered.set(registry, made);
  return made;
}

/**
 * Returns the groups in the order of aggregated discovery, which differs for groups of equal priority: they are sorted by their own names
 * instead of those of their APIServices (upstream: `apiserver/pkg/endpoints/discovery/aggregated/handler.go`).
 */
export function groupsByName(
  registry: Registry,
  aggregated: readonly AggregatedVersion[],
): readonly ServedGroup[] {
  return order(registry.groups, aggregated, ({ group }) => group);
}

function order(
  groups: readonly ServedGroup[],
  aggregated: readonly AggregatedVersion[] = [],
  nameOf = ({ group, version }: GroupVersion): string => `${version}.${group}`,
): readonly ServedGroup[] {
  const named = new Map<string, Ordered>();
  const own = groups.flatMap(({ group, versions }) => versions.map((version) => ({ group, version })));
  for (const each of [...own.map((version) => ({ ...version, ...priorityOf(version) })), ...aggregated]) {
    named.set(`${each.version}.${each.group}`, { ...each, name: nameOf(each) });
  }
  const all = [...named.values()].toSorted(byGroupPriority);
  const byGroup = new Map<string, typeof all>();
  for (const each of all) {
    const known = byGroup.get(each.group);
    if (known === undefined) byGroup.set(each.group, [each]);
    else known.push(each);
  }
  return [...byGroup].map(([group, versions]) => ({
    group,
    versions: versions
      .toSorted((a, b) => b.versionPriority - a.versionPriority || byVersionPriority(a.version, b.version))
      .map(({ version }) => version),
  }));
}

interface Ordered extends GroupVersion, Priority {
  readonly name: string;
}

/** At equal priority the version is compared before the group, because APIService names start with the version. */
function byGroupPriority(a: Ordered, b: Ordered): number {
  if ((a.group === GROUP.apiregistration) !== (b.group === GROUP.apiregistration)) {
    return a.group === GROUP.apiregistration ? -1 : 1;
  }
  const difference = b.groupPriorityMinimum - a.groupPriorityMinimum;
  return difference === 0 ? Number(a.name > b.name) - Number(a.name < b.name) : difference;
}
