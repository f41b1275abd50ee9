import type { ApiLevel } from '../../../../shared/api-level';
import { apiLevel } from '../../../../shared/api-level';
import {
  appArmorProfile,
  defaultCapabilities,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  privileged,
  procMount,
  seccompAnnotations,
  seccompFields,
  seLinuxOptions,
  sysctls,
  SYSCTLS,
  SYSCTLS_OF_27,
  SYSCTLS_OF_29,
  SYSCTLS_OF_32,
  windowsHostProcess,
} from './baseline';
import type { Check, CheckedPod, Violation } from './checked-pod';
import type { Standard } from './policy';
import {
  allowPrivilegeEscalation,
  restrictedCapabilities,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompRequired,
} from './restricted';

/** Pods that say they run on Windows, where the fields of some rules cannot be set. */
const exceptOnWindows =
  (check: Check): Check =>
  (pod) =>
    pod.spec.os?.name === 'windows' ? undefined : check(pod);

/** Pods in a user namespace, where root is not the root of the host. */
const exceptInUserNamespace =
  (check: Check): Check =>
  (pod) =>
    pod.spec.hostUsers === false ? undefined : check(pod);

/** One rule of a standard. */
interface CheckRow {
  readonly id: string;
  readonly level: 'baseline' | 'restricted';
  /** The rule of `baseline` that this one takes the place of in `restricted`. */
  readonly overrides?: string;
  /** The check by the minor number of the policy version from which on it holds, in ascending order. */
  readonly since: Readonly<Record<number, Check>>;
}

const SELINUX_TYPES = ['container_t', 'container_init_t', 'container_kvm_t'];

/** All rules, those of `baseline` first, by id: the order in which violations are listed. */
const CHECKS: readonly CheckRow[] = [
  { id: 'appArmorProfile', level: 'baseline', since: { 0: appArmorProfile } },
  { id: 'capabilities_baseline', level: 'baseline', since: { 0: defaultCapabilities } },
  { id: 'hostNamespaces', level: 'baseline', since: { 0: hostNamespaces } },
  { id: 'hostPathVolumes', level: 'baseline', since: { 0: hostPathVolumes } },
  { id: 'hostPorts', level: 'baseline', since: { 0: hostPorts } },
  { id: 'hostProbesAndHostLifecycle', level: 'baseline', since: { 34: hostProbes } },
  { id: 'privileged', level: 'baseline', since: { 0: privileged } },
  { id: 'procMount', level: 'baseline', since: { 0: procMount, 35: exceptInUserNamespace(procMount) } },
  {
    id: 'seLinuxOptions',
    level: 'baseline',
    since: {
      0: seLinuxOptions(...SELINUX_TYPES),
      31: seLinuxOptions(...SELINUX_TYPES, 'container_engine_t'),
    },
  },
  { id: 'seccompProfile_baseline', level: 'baseline', since: { 0: seccompAnnotations, 19: seccompFields } },
  {
    id: 'sysctls',
    level: 'baseline',
    since: {
      0: sysctls(...SYSCTLS),
      27: sysctls(...SYSCTLS_OF_27),
      29: sysctls(...SYSCTLS_OF_29),
      32: sysctls(...SYSCTLS_OF_32),
    },
  },
  { id: 'windowsHostProcess', level: 'baseline', since: { 0: windowsHostProcess } },
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    since: { 8: allowPrivilegeEscalation, 25: exceptOnWindows(allowPrivilegeEscalation) },
  },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    overrides: 'capabilities_baseline',
    since: { 22: restrictedCapabilities, 25: exceptOnWindows(restrictedCapabilities) },
  },
  { id: 'procMount_restricted', level: 'restricted', overrides: 'procMount', since: { 35: procMount } },
  {
    id: 'restrictedVolumes',
    level: 'restricted',
    overrides: 'hostPathVolumes',
    since: { 0: restrictedVolumes },
  },
  {
    id: 'runAsNonRoot',
    level: 'restricted',
    since: { 0: runAsNonRoot, 35: exceptInUserNamespace(runAsNonRoot) },
  },
  { id: 'runAsUser', level: 'restricted', since: { 23: runAsUser, 35: exceptInUserNamespace(runAsUser) } },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    overrides: 'seccompProfile_baseline',
    since: { 19: seccompRequired, 25: exceptOnWindows(seccompRequired) },
  },
];

/** The last policy version that has rules of its own. A later one is the same. */
const LAST_VERSION = Math.max(...CHECKS.flatMap(({ since }) => Object.keys(since).map(Number)));

/**
 * Returns the violations of a standard by a pod, in the order in which upstream lists them. Rules of policy versions after the API level
 * are not known yet.
 */
export function violationsOf(
  { level, version }: Standard,
  pod: CheckedPod,
  known: ApiLevel = apiLevel,
): readonly Violation[] {
  const wanted = Math.min(version === 'latest' ? LAST_VERSION : version, LAST_VERSION, known);
  if (level === 'privileged') return [];
  const rows = CHECKS.map((row) => ({ ...row, check: checkAt(row, wanted) })).filter(
    (row) => row.check !== undefined && (level === 'restricted' || row.level === 'baseline'),
  );
  const overridden = new Set(rows.map(({ overrides }) => overrides));
  return rows.filter(({ id }) => !overridden.has(id)).flatMap(({ check }) => check?.(pod) ?? []);
}

function checkAt({ since }: CheckRow, version: number): Check | undefined {
  const release = Object.keys(since)
    .map(Number)
    .findLast((each) => each <= version);
  return release === undefined ? undefined : since[release];
}

/** Returns `privileged (container "a" must not …), hostPort (…)`. */
export function detailsOf(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => `${reason} (${detail})`).join(', ');
}

/** Returns `privileged, hostPort`. */
export function reasonsOf(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(', ');
}
