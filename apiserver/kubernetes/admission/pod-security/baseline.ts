import type { LifecycleHandler, Probe } from '../../../../shared/api/types/core-v1';
import { ANNOTATION } from '../../../../shared/names';
import type { AnyContainer, Check, CheckedPod } from './checked-pod';
import {
  containers,
  containersOf,
  joinQuoted,
  namesOf,
  pluralOf,
  sortedSet,
  valueCheck,
} from './checked-pod';

const DEFAULT_PROFILES: readonly string[] = ['RuntimeDefault', 'Localhost'];
const badType = ({ type }: { readonly type: string }): readonly string[] =>
  DEFAULT_PROFILES.includes(type) ? [] : [type];
const badAppArmor = valueCheck(({ appArmorProfile }) => appArmorProfile, badType);

export const appArmorProfile: Check = (pod) => {
  const fields = badAppArmor(pod);
  const annotations = Object.entries(pod.annotations)
    .filter(([key, value]) => key.startsWith(ANNOTATION.appArmorContainerPrefix) && !isDefaultAppArmor(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort();
  if (fields === undefined && annotations.length === 0) return undefined;
  const bad = [...sortedSet(fields?.bad ?? []), ...annotations];
  const setters = [
    ...(fields === undefined ? [] : [fields.setters]),
    ...(annotations.length === 0 ? [] : [pluralOf('annotation', annotations.length)]),
  ];
  return {
    reason: pluralOf('forbidden AppArmor profile', bad.length),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${joinQuoted(bad)}`,
  };
};

function isDefaultAppArmor(profile: string): boolean {
  return profile === '' || profile === 'runtime/default' || profile.startsWith('localhost/');
}

const DEFAULT_CAPABILITIES: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

function addedBeyond(container: AnyContainer, allowed: ReadonlySet<string>): readonly string[] {
  return (container.securityContext?.capabilities?.add ?? []).filter((each) => !allowed.has(each));
}

export function capabilitiesBeyond(pod: CheckedPod, allowed: ReadonlySet<string>): string | undefined {
  const bad = namesOf(pod, (container) => addedBeyond(container, allowed).length > 0);
  if (bad.length === 0) return undefined;
  const added = sortedSet(containersOf(pod).flatMap((container) => addedBeyond(container, allowed)));
  return `${containers(bad)} must not include ${joinQuoted(added)} in securityContext.capabilities.add`;
}

export const defaultCapabilities: Check = (pod) => {
  const detail = capabilitiesBeyond(pod, DEFAULT_CAPABILITIES);
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail };
};

export const hostNamespaces: Check = ({ spec }) => {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true);
  if (shared.length === 0) return undefined;
  return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') };
};

export const hostPathVolumes: Check = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name);
  if (bad.length === 0) return undefined;
  return { reason: 'hostPath volumes', detail: `${pluralOf('volume', bad.length)} ${joinQuoted(bad)}` };
};

function hostPortsOf({ ports }: AnyContainer): readonly string[] {
  return (ports ?? []).filter(({ hostPort = 0 }) => hostPort !== 0).map(({ hostPort }) => String(hostPort));
}

export const hostPorts: Check = (pod) => {
  const bad = namesOf(pod, (container) => hostPortsOf(container).length > 0);
  if (bad.length === 0) return undefined;
  const ports = sortedSet(containersOf(pod).flatMap(hostPortsOf));
  const uses = bad.length === 1 ? 'uses' : 'use';
  return {
    reason: 'hostPort',
    detail: `${containers(bad)} ${uses} ${pluralOf('hostPort', ports.length)} ${ports.join(', ')}`,
  };
};

function hostsOf({ lifecycle, ...probes }: AnyContainer): readonly string[] {
  const handlers: readonly (Probe | LifecycleHandler | undefined)[] = [
    probes.livenessProbe,
    probes.readinessProbe,
    probes.startupProbe,
    lifecycle?.postStart,
    lifecycle?.preStop,
  ];
  return handlers
    .flatMap((handler) => [handler?.httpGet?.host ?? '', handler?.tcpSocket?.host ?? ''])
    .filter((host) => host !== '');
}

export const hostProbes: Check = (pod) => {
  const bad = sortedSet(namesOf(pod, (container) => hostsOf(container).length > 0));
  if (bad.length === 0) return undefined;
  const hosts = sortedSet(containersOf(pod).flatMap(hostsOf));
  const uses = bad.length === 1 ? 'uses' : 'use';
  return {
    reason: 'probe or lifecycle host',
    detail: `${containers(bad)} ${uses} ${pluralOf('probe or lifecycle host', hosts.length)} ${joinQuoted(hosts)}`,
  };
};

export const privileged: Check = (pod) => {
  const bad = namesOf(pod, ({ securityContext }) => securityContext?.privileged === true);
  if (bad.length === 0) return undefined;
  return {
    reason: 'privileged',
    detail: `${containers(bad)} must not set securityContext.privileged=true`,
  };
};

export const procMount: Check = (pod) => {
  const mountsOf = ({ securityContext }: AnyContainer): readonly string[] =>
    [securityContext?.procMount ?? 'Default'].filter((mount) => mount !== 'Default');
  const bad = namesOf(pod, (container) => mountsOf(container).length > 0);
  if (bad.length === 0) return undefined;
  const mounts = sortedSet(containersOf(pod).flatMap(mountsOf));
  return {
    reason: 'procMount',
    detail: `${containers(bad)} must not set securityContext.procMount to ${joinQuoted(mounts)}`,
  };
};

/** Marks of the parts that may not be set at all; no type of SELinux is called so. */
const USER = ' user';
const ROLE = ' role';

export function seLinuxOptions(...types: readonly string[]): Check {
  const badSeLinux = valueCheck(
    ({ seLinuxOptions: options }) => options,
    ({ type = '', user = '', role = '' }) => [
      ...(type === '' || types.includes(type) ? [] : [type]),
      ...(user === '' ? [] : [USER]),
      ...(role === '' ? [] : [ROLE]),
    ],
  );
  return (pod) => {
    const found = badSeLinux(pod);
    if (found === undefined) return undefined;
    const bad = sortedSet(found.bad.filter((each) => each !== USER && each !== ROLE));
    const details = [
      ...(bad.length === 0 ? [] : [`${pluralOf('type', bad.length)} ${joinQuoted(bad)}`]),
      ...(found.bad.includes(USER) ? ['user may not be set'] : []),
      ...(found.bad.includes(ROLE) ? ['role may not be set'] : []),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${found.setters} set forbidden securityContext.seLinuxOptions: ${details.join('; ')}`,
    };
  };
}

export const SECCOMP = 'seccompProfile';
const badSeccomp = valueCheck(({ seccompProfile }) => seccompProfile, badType);

export const seccompAnnotations: Check = (pod) => {
  const keys = [
    ANNOTATION.seccompPod,
    ...containersOf(pod).map(({ name }) => `${ANNOTATION.seccompContainerPrefix}${name}`),
  ];
  const bad = sortedSet(
    keys.flatMap((key) => {
      const value = Object.hasOwn(pod.annotations, key) ? pod.annotations[key] : undefined;
      return value === undefined || isDefaultSeccomp(value) ? [] : [`${key}=${JSON.stringify(value)}`];
    }),
  );
  if (bad.length === 0) return undefined;
  return { reason: SECCOMP, detail: `forbidden ${pluralOf('annotation', bad.length)} ${bad.join(', ')}` };
};

function isDefaultSeccomp(profile: string): boolean {
  return profile === 'runtime/default' || profile === 'docker/default' || profile.startsWith('localhost/');
}

export const seccompFields: Check = (pod) => {
  const found = badSeccomp(pod);
  if (found === undefined) return undefined;
  const types = joinQuoted(sortedSet(found.bad));
  return {
    reason: SECCOMP,
    detail: `${found.setters} must not set securityContext.seccompProfile.type to ${types}`,
  };
};

export function sysctls(...safe: readonly string[]): Check {
  return ({ spec }) => {
    const bad = (spec.securityContext?.sysctls ?? [])
      .map(({ name }) => name)
      .filter((name) => !safe.includes(name));
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') };
  };
}

export const SYSCTLS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];
export const SYSCTLS_OF_27 = [...SYSCTLS, 'net.ipv4.ip_local_reserved_ports'];
export const SYSCTLS_OF_29 = [
  ...SYSCTLS_OF_27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
];
export const SYSCTLS_OF_32 = [...SYSCTLS_OF_29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

const hostProcess = valueCheck(
  ({ windowsOptions }) => windowsOptions?.hostProcess,
  (value) => (value ? ['true'] : []),
);

export const windowsHostProcess: Check = (pod) => {
  const found = hostProcess(pod);
  if (found === undefined) return undefined;
  return {
    reason: 'hostProcess',
    detail: `${found.setters} must not set securityContext.windowsOptions.hostProcess=true`,
  };
};
