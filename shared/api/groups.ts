import { apiVersionFromNeutral, GROUP } from '../names';
import type { Revised } from '../api-level';
import { isAtLevel, rowAtLevel } from '../api-level';
import { RESOURCE_DATA } from './tables';

export interface GroupRow {
  readonly group: string;
  /**
   * Discovery lists groups by falling priority, then by name. It is also `groupPriorityMinimum` of the group's
   * APIServices.
   */
  readonly priority: number;
  /** The preferred version comes first. The number is `versionPriority` of the APIService. */
  readonly versions: readonly { readonly version: string; readonly priority: number }[];
}

/** The versions that have a resource at the API level of this process, in the names of its dialect. */
const EXISTING: ReadonlySet<string> = new Set(
  Object.entries(RESOURCE_DATA)
    .filter(([, resources]) => Object.values(resources).some((each) => isAtLevel(each)))
    .map(([neutral]) => apiVersionFromNeutral(neutral)),
);

/** All built-in groups in the order of discovery, the core group first. */
export const GROUPS: readonly GroupRow[] = [
  row('core', 18000, { v1: 1 }),
  row('apiregistration', 18000, { v1: 18, v1beta1: 18 }),
  row('apps', 17800, { v1: 15 }),
  row('events', 17750, { v1: 15, v1beta1: 5 }),
  row('authentication', 17700, { v1: 15, v1beta1: 9 }),
  row('authorization', 17600, { v1: 15, v1beta1: 9 }),
  row('autoscaling', 17500, { v2: 30, v1: 15, v2beta1: 9, v2beta2: 1 }),
  row('batch', 17400, { v1: 15, v1beta1: 9 }),
  row('certificates', 17300, { v1: 15, v1beta1: 9, v1alpha1: 1 }),
  row('networking', 17200, { v1: 15, v1beta1: 9 }),
  row('extensions', 17150, { v1beta1: 1 }),
  row('policy', 17100, { v1: 15, v1beta1: 9 }),
  row('rbac', 17000, { v1: 15, v1beta1: 12, v1alpha1: 9 }),
  row('storage', 16800, { v1: 15, v1beta1: 9, v1alpha1: 1 }),
  row('admissionregistration', 16700, { v1: 15, v1beta1: 12, v1alpha1: 9 }),
  row('apiextensions', 16700, { v1: 15, v1beta1: 9 }),
  row('scheduling', 16600, { v1: 15, v1beta1: 12, v1alpha1: 9, v1alpha2: 2 }),
  row('coordination', 16500, { v1: 15, v1beta1: 13, v1alpha2: 12 }, { '1.31': { v1: 15, v1beta1: 9 } }),
  row('node', 16300, { v1: 15, v1beta1: 9, v1alpha1: 1 }),
  row('discovery', 16200, { v1: 15, v1beta1: 12 }),
  row('resource', 16200, { v1: 21, v1beta2: 15, v1beta1: 9, v1alpha3: 1 }),
  row('flowcontrol', 16100, { v1: 21, v1beta3: 18, v1beta1: 12, v1alpha1: 9 }),
  row('apiserverinternal', 16000, { v1alpha1: 9 }),
  row('storagemigration', 15800, { v1beta1: 9 }),
].filter(({ versions }) => versions.length > 0);

/** Returns the first version in the order of discovery; undefined for a group that is not built in. */
export function preferredVersion(group: string): string | undefined {
  return GROUPS.find((each) => each.group === group)?.versions[0]?.version;
}

/** The priority of each version. */
type Priorities = Readonly<Record<string, number>>;

interface Versions extends Revised<Versions> {
  readonly versions: Priorities;
}

/** `older` has the versions up to a release where they were others. */
function row(
  name: keyof typeof GROUP,
  priority: number,
  newest: Priorities,
  older: Readonly<Record<string, Priorities>> = {},
): GroupRow {
  const group = GROUP[name];
  const upTo = Object.fromEntries(
    Object.entries(older).map(([release, versions]) => [release, { versions }]),
  );
  const { versions } = rowAtLevel<Versions>({ versions: newest, upTo });
  return {
    group,
    priority,
    versions: Object.entries(versions)
      .map(([version, each]) => ({ version, priority: each }))
      .filter(({ version }) => EXISTING.has(group === '' ? version : `${group}/${version}`)),
  };
}
