import type {
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
  Sysctl,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required } from '../../../../shared/errors/field-error';
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
});

/** The `securityContext` of a pod, and the parts of its spec that belong to it; `path` is that of the spec. */
export function validatePodSecurity(spec: PodSpec, path: string): FieldError[] {
  const at = `${path}.securityContext`;
  const { securityContext: context } = spec;
  const shares = spec.shareProcessNamespace === true && spec.hostPID === true;
  return [
    ...(spec.hostNetwork === true ? hostNetworkPorts(spec.containers ?? [], `${path}.containers`) : []),
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
  ];
}

const containerFields = fields<SecurityContext>({
  runAsUser: id,
  runAsGroup: id,
  procMount: ifPresent((type, path) => choice(type, path, ['Default', 'Unmasked'])),
  seccompProfile: ifPresent(seccompProfile),
});
const windows = ifPresent(validateWindowsOptions);

/** The `securityContext` of a container, where there is one. */
export function validateSecurityContext(context: SecurityContext | undefined, path: string): FieldError[] {
  if (context === undefined) return [];
  const confined = context.allowPrivilegeEscalation === false;
  const added = context.capabilities?.add ?? [];
  return [
    ...containerFields(context, path),
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
const SYSCTL_BYTES_MAX = 253;

function sysctls(settings: readonly Sysctl[], path: string): FieldError[] {
  const seen = new Set<string>();
  return forEachItem(settings, path, ({ name }, at) => {
    const again = seen.has(name);
    seen.add(name);
    if (name === '') return [required(`${at}.name`)];
    if (name.length > SYSCTL_BYTES_MAX || !SYSCTL_PATTERN.test(name)) {
      const why = `must have at most ${String(SYSCTL_BYTES_MAX)} characters and match regex ${SYSCTL}`;
      return [invalid(`${at}.name`, name, why)];
    }
    return again ? [duplicate(`${at}.name`, name)] : [];
  });
}
