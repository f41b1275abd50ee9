import { GROUP } from '../names';

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

/** All built-in groups in the order of discovery, the core group first. */
export const GROUPS: readonly GroupRow[] = [
  row('core', 18000, { v1: 1 }),
  row('apiregistration', 18000, { v1: 18, v1beta1: 18 }),
  row('apps', 17800, { v1: 15 }),
  row('events', 17750, { v1: 15, v1beta1: 5 }),
  row('authentication', 17700, { v1: 15, v1beta1: 9 }),
  row('authorization', 17600, { v1: 15, v1beta1: 9 }),
  row('autoscaling', 17500, { v1: 15, v2beta1: 9, v2beta2: 1 }),
  row('batch', 17400, { v1: 15, v1beta1: 9 }),
  row('certificates', 17300, { v1: 15, v1beta1: 9 }),
  row('networking', 17200, { v1: 15, v1beta1: 9 }),
  row('extensions', 17150, { v1beta1: 1 }),
  row('policy', 17100, { v1: 15, v1beta1: 9 }),
  row('rbac', 17000, { v1: 15, v1beta1: 12, v1alpha1: 9 }),
  row('storage', 16800, { v1: 15, v1beta1: 9, v1alpha1: 1 }),
  row('admissionregistration', 16700, { v1: 15, v1beta1: 12 }),
  row('apiextensions', 16700, { v1: 15, v1beta1: 9 }),
  row('scheduling', 16600, { v1: 15, v1beta1: 12, v1alpha1: 9 }),
  row('coordination', 16500, { v1: 15, v1beta1: 9 }),
  row('node', 16300, { v1: 15, v1beta1: 9, v1alpha1: 1 }),
  row('discovery', 16200, { v1: 15, v1beta1: 12 }),
  row('flowcontrol', 16100, { v1beta1: 12, v1alpha1: 9 }),
  row('apiserverinternal', 16000, { v1alpha1: 9 }),
];

/** True for versions that are served without `--runtime-config`, which enables alpha versions. */
export function isServedByDefault(version: string): boolean {
  return !version.includes('alpha');
}

/**
 * Returns the first version that is served by default, else the first one. Undefined for a group that is not
 * built in.
 */
export function preferredVersion(group: string): string | undefined {
  const versions = GROUPS.find((each) => each.group === group)?.versions;
  return (versions?.find(({ version }) => isServedByDefault(version)) ?? versions?.[0])?.version;
}

function row(
  name: keyof typeof GROUP,
  priority: number,
  versions: Readonly<Record<string, number>>,
): GroupRow {
  return {
    group: GROUP[name],
    priority,
    versions: Object.entries(versions).map(([version, each]) => ({ version, priority: each })),
  };
}
