import type {
  AppArmorProfile,
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
  Sysctl,
} from '../../../../shared/api/types/core-v1';
import { isInForce } from '../../../../shared/api/changes';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, forbiddenField, invalid, required, tooLong } from '../../../../shared/errors/field-error';
import type { KindSettings } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { byLaterRule } from './later-rules';
import { forEachContainer } from './operating-system';
import { hostNetworkPorts } from './container-ports';
import type { Rule } from '../rules/primitives';
import {
  choice,
  each,
  fields,
  forEachItem,
  ifPresent,
  inRange,
  localDescendingPath,
} from '../rules/primitives';
import { validateWindowsOptions } from './windows-options';

const INT32_MAX = 2_147_483_647;
const id: Rule = ifPresent((value, path) => inRange(value, path, { min: 0, max: INT32_MAX }));

const podIds = fields<PodSecurityContext>({
  fsGroup: id,
  runAsUser: id,
  runAsGroup: id,
  supplementalGroups: each(id),
});

const podFields = fields<PodSecurityContext>({
  sysctls: ifPresent(sysctls),
  fsGroupChangePolicy: ifPresent((value, path) => choice(value, path, ['Always', 'OnRootMismatch'])),
  seccompProfile: ifPresent(seccompProfile),
  windowsOptions: ifPresent(validateWindowsOptions),
  appArmorProfile: ifPresent(appArmorProfile),
  supplementalGroupsPolicy: ifPresent((value, path) => choice(value, path, ['Merge', 'Strict'])),
});

/** The `securityContext` of a pod, and the parts of its spec that belong to it; `path` is that of the spec. */
export function validatePodSecurity(
  spec: PodSpec,
  path: string,
  isPod: boolean,
  settings: KindSettings,
): FieldError[] {
  const at = `${path}.securityContext`;
  const { securityContext: context } = spec;
  const shares = spec.shareProcessNamespace === true && spec.hostPID === true;
  return [
    ...(spec.hostNetwork === true
      ? hostNetworkPorts(spec.containers ?? [], `${path}.containers`, isPod)
      : []),
    ...(context === undefined ? [] : podIds(context, at)),
    ...(shares
      ? [
          invalid(
            `${at}.shareProcessNamespace`,
            true,
            'ShareProcessNamespace and HostPID cannot both be enabled',
          ),
        ]
      : []),
    ...(context === undefined ? [] : podFields(context, at)),
    ...selinuxPolicy(context?.seLinuxChangePolicy, `${at}.seLinuxChangePolicy`, settings),
    ...(context?.sysctls === undefined ? [] : hostSysctls(context.sysctls, `${at}.sysctls`, spec)),
  ];
}

function selinuxPolicy(
  policy: string | undefined,
  path: string,
  settings: KindSettings,
): readonly FieldError[] {
  if (policy === undefined) return [];
  if (isOn(settings, 'SELinuxMount')) return choice(policy, path, ['MountOption', 'Recursive']);
  return byLaterRule('SELinux policies', choice(policy, path, ['Recursive']));
}

/** A pod with users of its own shares no other namespace with its host, and no devices. */
export function validateUserNamespace(spec: PodSpec, path: string, settings: KindSettings): FieldError[] {
  if (spec.hostUsers !== false) return [];
  const why = 'when `hostUsers` is false';
  return [
    ...(spec.hostNetwork === true && !isOn(settings, 'UserNamespacesHostNetworkSupport')
      ? byLaterRule('host network in a user namespace', [forbiddenField(`${path}.hostNetwork`, why)])
      : []),
    // Upstream writes these two so.
    ...(spec.hostPID === true ? [forbiddenField(`${path}.HostPID`, why)] : []),
    ...(spec.hostIPC === true ? [forbiddenField(`${path}.HostIPC`, why)] : []),
    ...byLaterRule(
      'volume devices in a user namespace',
      forEachContainer(spec, path, ({ volumeDevices = [] }, at) =>
        volumeDevices.length > 0 ? [forbiddenField(`${at}.volumeDevices`, why)] : [],
      ),
    ),
  ];
}

const containerFields = fields<SecurityContext>({
  runAsUser: id,
  runAsGroup: id,
  procMount: ifPresent((type, path) => choice(type, path, ['Default', 'Unmasked'])),
  seccompProfile: ifPresent(seccompProfile),
});
const windows = ifPresent(validateWindowsOptions);
const appArmor = ifPresent(appArmorProfile);

/** The `securityContext` of a container, where there is one. */
export function validateSecurityContext(
  context: SecurityContext | undefined,
  path: string,
  { hostUsers }: PodSpec,
): FieldError[] {
  if (context === undefined) return [];
  const isUnmasked = context.procMount === 'Unmasked' && hostUsers !== false;
  const confined = context.allowPrivilegeEscalation === false;
  const added = context.capabilities?.add ?? [];
  return [
    ...containerFields(context, path),
    ...(isUnmasked && isInForce('unmaskedProcMounts')
      ? [invalid(`${path}.procMount`, context.procMount, '`hostUsers` must be false to use `Unmasked`')]
      : []),
    ...(confined && context.privileged === true
      ? [invalid(path, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true')]
      : []),
    ...(confined && added.includes('CAP_SYS_ADMIN')
      ? [
          invalid(
            path,
            context,
            'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
          ),
        ]
      : []),
    ...windows(context.windowsOptions, `${path}.windowsOptions`),
    ...appArmor(context.appArmorProfile, `${path}.appArmorProfile`),
  ];
}

const APP_ARMOR_BYTES_MAX = 4095;

/** Which AppArmor profile confines the containers. Source: ValidateAppArmorProfileField, v1.36. */
function appArmorProfile({ type, localhostProfile: localhost }: AppArmorProfile, path: string): FieldError[] {
  const at = `${path}.localhostProfile`;
  if (type === '') return [required(`${path}.type`, 'type is required when appArmorProfile is set')];
  if (type !== 'Localhost') {
    const errors = choice(type, `${path}.type`, ['Localhost', 'RuntimeDefault', 'Unconfined']);
    if (errors.length > 0 || localhost === undefined) return errors;
    return [invalid(at, localhost, 'can only be set when AppArmor type is Localhost')];
  }
  const missing = [required(at, 'must be set when AppArmor type is Localhost')];
  if (localhost === undefined || localhost === '') return missing;
  return [
    ...(localhost.trim() === localhost ? [] : [invalid(at, localhost, 'must not be padded with whitespace')]),
    ...(Buffer.byteLength(localhost) > APP_ARMOR_BYTES_MAX ? [tooLong(at, '', APP_ARMOR_BYTES_MAX)] : []),
  ];
}

function seccompProfile({ type, localhostProfile: localhost }: SeccompProfile, path: string): FieldError[] {
  const at = `${path}.localhostProfile`;
  const errors =
    type === ''
      ? [required(`${path}.type`, 'type is required when seccompProfile is set')]
      : choice(type, `${path}.type`, ['Localhost', 'RuntimeDefault', 'Unconfined']);
  if (type === 'Localhost') {
    return localhost === undefined
      ? [...errors, required(at, 'must be set when seccomp type is Localhost')]
      : [...errors, ...localDescendingPath(localhost, at)];
  }
  if (localhost === undefined) return errors;
  return [...errors, invalid(at, localhost, 'can only be set when seccomp type is Localhost')];
}

const SYSCTL_PART = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL = `(${SYSCTL_PART}\\.)*${SYSCTL_PART}`;
const SYSCTL_PATTERN = new RegExp(`^${SYSCTL}$`);
const SYSCTL_WITH_SLASHES = `(${SYSCTL_PART}[\\./])*${SYSCTL_PART}`;
const SYSCTL_PATTERN_WITH_SLASHES = new RegExp(`^${SYSCTL_WITH_SLASHES}$`);
const SYSCTL_BYTES_MAX = 253;

function sysctls(settings: readonly Sysctl[], path: string): FieldError[] {
  const [pattern, shown] = isInForce('sysctlSlashes')
    ? [SYSCTL_PATTERN_WITH_SLASHES, SYSCTL_WITH_SLASHES]
    : [SYSCTL_PATTERN, SYSCTL];
  const seen = new Set<string>();
  return forEachItem(settings, path, ({ name }, at) => {
    const again = seen.has(name);
    seen.add(name);
    if (name === '') return [required(`${at}.name`)];
    if (name.length > SYSCTL_BYTES_MAX || !pattern.test(name)) {
      const why = `must have at most ${String(SYSCTL_BYTES_MAX)} characters and match regex ${shown}`;
      return [invalid(`${at}.name`, name, why)];
    }
    return again ? [duplicate(`${at}.name`, name)] : [];
  });
}

/** Namespaces of the kernel by the beginnings of their sysctls. */
const IPC_SYSCTL = /^(?:kernel\.(?:sem|shm(?:all|max|mni|_rmid_forced)?|msg(?:max|mnb|mni)?)$|fs\.mqueue\.)/;
const NET_SYSCTL = /^net\./;

/** Sysctls of a namespace that the pod shares with its host would be the host's. Source: ValidateHostSysctl, v1.36. */
function hostSysctls(
  settings: readonly Sysctl[],
  path: string,
  { hostNetwork, hostIPC }: PodSpec,
): readonly FieldError[] {
  if (!isInForce('hostSysctls') || (hostNetwork !== true && hostIPC !== true)) return [];
  return byLaterRule(
    'host sysctls',
    forEachItem(settings, path, ({ name }, at) => {
      const normal = withDots(name);
      const shared =
        hostNetwork === true && NET_SYSCTL.test(normal)
          ? 'hostNetwork'
          : hostIPC === true && IPC_SYSCTL.test(normal)
            ? 'hostIPC'
            : undefined;
      const why = `may not be specified when '${shared ?? ''}' is true`;
      return shared === undefined ? [] : [invalid(`${at}.name`, name, why)];
    }),
  );
}

/** The name with dots between its parts; where slashes are, dots are part of the parts. */
function withDots(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name;
  return name.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}
