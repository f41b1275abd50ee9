import type {
  IDRange,
  PodSecurityPolicy,
  PodSecurityPolicySpec,
  RunAsGroupStrategyOptions,
  RuntimeClassStrategyOptions,
} from '../../../shared/api/types/policy-v1beta1';
import { ANNOTATION } from '../../../shared/names';
import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported, required } from '../../../shared/errors/field-error';
import type { Strategy } from '../../registry/strategy';
import { integer } from '../../../shared/object/accessors';
import { choice, forEachItem, nonNegative, pathWithoutBacksteps } from '../rules/primitives';
import { csiDriverName } from '../rules/storage-drivers';
import { VOLUME_SOURCES } from '../pod-template/volume-sources';

/** The choices of the rules that are about ids; where they limit the group of processes, they need ranges. */
const USER_RULES = ['MustRunAs', 'MustRunAsNonRoot', 'RunAsAny'];
const GROUP_RULES = ['MayRunAs', 'MustRunAs', 'RunAsAny'];
const VOLUMES = ['*', 'ephemeral', ...Object.keys(VOLUME_SOURCES)].sort();

/** Some paths lack their beginning, as upstream's do. */
export const podSecurityPolicyRules: Pick<Strategy<PodSecurityPolicy>, 'validate'> = {
  validate: ({ metadata, spec }) => {
    const { runAsGroup, runtimeClass, volumes = [], allowedProcMountTypes: procMounts = [] } = spec;
    return [
      ...validateProfiles(metadata.annotations ?? {}),
      ...validateIds(spec.runAsUser, 'spec.runAsUser', USER_RULES),
      ...validateIds(spec.supplementalGroups, 'spec.supplementalGroups', GROUP_RULES),
      ...validateIds(spec.fsGroup, 'spec.fsGroup', GROUP_RULES),
      ...(runAsGroup === undefined ? [] : validateRunAsGroup(runAsGroup)),
      ...choice(spec.seLinux.rule, 'spec.seLinux.rule', ['MustRunAs', 'RunAsAny']),
      ...forEachItem(volumes, 'spec', (volume) => choice(volume, 'spec.volumes', VOLUMES)),
      ...validateCapabilities(spec),
      ...(spec.defaultAllowPrivilegeEscalation === true && spec.allowPrivilegeEscalation === false
        ? [
            invalid(
              'spec.defaultAllowPrivilegeEscalation',
              true,
              'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation',
            ),
          ]
        : []),
      ...forEachItem(procMounts, 'spec.allowedProcMountTypes', (type, path) =>
        choice(type, path, ['Default', 'Unmasked']),
      ),
      ...validateAllowed(spec),
      ...validateSysctls(spec),
      ...(runtimeClass === undefined ? [] : validateRuntimeClasses(runtimeClass)),
    ];
  },
};

function validateIds(
  { rule, ranges = [] }: { readonly rule?: string; readonly ranges?: readonly IDRange[] },
  path: string,
  supported: readonly string[],
): FieldError[] {
  return [
    ...choice(rule, `${path}.rule`, supported),
    ...forEachItem(ranges, `${path}.ranges`, validateRange),
  ];
}

function validateRange(range: IDRange, path: string): FieldError[] {
  const min = integer(range.min) ?? 0;
  const max = integer(range.max) ?? 0;
  return [
    ...nonNegative(min, `${path}.min`),
    ...nonNegative(max, `${path}.max`),
    ...(min > max ? [invalid(`${path}.min`, min, 'min cannot be greater than max')] : []),
  ];
}

function validateRunAsGroup(options: RunAsGroupStrategyOptions): FieldError[] {
  const path = 'spec.runAsGroup';
  const { rule, ranges = [] } = options;
  if (rule === 'RunAsAny') {
    return ranges.length === 0 ? [] : [invalid(`${path}.ranges`, ranges, 'Ranges must be empty')];
  }
  const isKnown = GROUP_RULES.includes(rule);
  return [
    ...validateIds(options, path, GROUP_RULES),
    ...(isKnown && ranges.length === 0
      ? [invalid(`${path}.ranges`, ranges, 'must provide at least one range')]
      : []),
  ];
}

const GRANTED = ['defaultAddCapabilities', 'allowedCapabilities'] as const;

function validateCapabilities(spec: PodSecurityPolicySpec): FieldError[] {
  const { requiredDropCapabilities: dropped = [], allowedCapabilities: allowed = [] } = spec;
  return [
    ...(dropped.length > 0 && allowed.includes('*')
      ? [
          invalid(
            'requiredDropCapabilities',
            dropped,
            'must be empty when all capabilities are allowed by a wildcard',
          ),
        ]
      : []),
    ...GRANTED.flatMap((field) => {
      const listed = new Set(spec[field]);
      return dropped
        .filter((capability) => listed.has(capability))
        .map((capability) =>
          invalid(field, capability, 'capability is also listed in requiredDropCapabilities'),
        );
    }),
  ];
}

function validateAllowed(spec: PodSecurityPolicySpec): FieldError[] {
  const { allowedHostPaths = [], allowedFlexVolumes = [], allowedCSIDrivers = [] } = spec;
  return [
    ...forEachItem(allowedHostPaths, 'spec.allowedHostPaths', ({ pathPrefix = '' }, path) =>
      pathPrefix === '' ? [required(path, 'is required')] : pathWithoutBacksteps(pathPrefix, path),
    ),
    ...forEachItem(allowedFlexVolumes, 'spec.allowedFlexVolumes.allowedFlexVolumes', ({ driver }, path) =>
      driver === '' ? [required(`${path}.driver`, 'must specify a driver')] : [],
    ),
    ...forEachItem(allowedCSIDrivers, 'spec.allowedCSIDrivers.allowedCSIDriver', ({ name }, path) =>
      csiDriverName(name, `${path}.name`),
    ),
  ];
}

const SYSCTL = /^[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/;
const SYSCTL_BYTES_MAX = 253;

function validateSysctls(spec: PodSecurityPolicySpec): FieldError[] {
  const { allowedUnsafeSysctls: allowed = [], forbiddenSysctls: forbidden = [] } = spec;
  return [
    ...sysctlPatterns(allowed, 'spec.allowedUnsafeSysctls'),
    ...sysctlPatterns(forbidden, 'spec.forbiddenSysctls'),
    ...forEachItem(allowed, 'spec.allowedUnsafeSysctls', (pattern, path) =>
      forbidden.some((other) => overlaps(pattern, other))
        ? [invalid(path, pattern, 'sysctl overlaps with a forbidden one')]
        : [],
    ),
  ];
}

function sysctlPatterns(patterns: readonly string[], path: string): FieldError[] {
  return [
    ...forEachItem(patterns, path, (pattern, at) => {
      const name = pattern.replace(/\*$/, '').replace(/[._-]$/, '');
      const isGood = pattern === '*' || (SYSCTL.test(name) && pattern.length <= SYSCTL_BYTES_MAX);
      return isGood ? [] : [invalid(at, pattern, 'must be a sysctl name or a prefix of one followed by *')];
    }),
    ...(patterns.length > 1 && patterns.includes('*')
      ? [forbiddenField(`${path}.items`, "if '*' is present, must not specify other sysctls")]
      : []),
  ];
}

function overlaps(a: string, b: string): boolean {
  const covers = (pattern: string, name: string): boolean =>
    pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1));
  return a === b || covers(a, b) || covers(b, a);
}

function validateRuntimeClasses(classes: RuntimeClassStrategyOptions): FieldError[] {
  const path = 'spec.runtimeClass';
  const { defaultRuntimeClassName: fallback } = classes;
  const allowed = classes.allowedRuntimeClassNames ?? [];
  return [
    ...(allowed.length > 1 && allowed.includes('*')
      ? [
          invalid(
            `${path}.allowedRuntimeClassNames`,
            allowed,
            "if '*' is present, must not specify other names",
          ),
        ]
      : []),
    ...(fallback !== undefined && !allowed.includes('*') && !allowed.includes(fallback)
      ? [notSupported(`${path}.defaultRuntimeClassName`, fallback, allowed)]
      : []),
  ];
}

const APP_ARMOR = /^(?:runtime\/default|unconfined|localhost\/.+)$/;
const SECCOMP = /^(?:runtime\/default|docker\/default|unconfined|localhost\/.+)$/;

/** The old homes of profiles: one that is used by default, and a list of those that may be. */
function validateProfiles(annotations: Readonly<Record<string, string>>): FieldError[] {
  const profiles: readonly (readonly [annotation: string, form: RegExp])[] = [
    [ANNOTATION.appArmorDefaultProfile, APP_ARMOR],
    [ANNOTATION.appArmorAllowedProfiles, APP_ARMOR],
    [ANNOTATION.seccompDefaultProfile, SECCOMP],
    [ANNOTATION.seccompAllowedProfiles, SECCOMP],
  ];
  return profiles.flatMap(([key, form]) => {
    const value = annotations[key] ?? '';
    const bad = value
      .split(',')
      .filter((profile) => profile !== '' && profile !== '*' && !form.test(profile));
    return bad.map((profile) => invalid(`metadata.annotations[${key}]`, profile, 'must be a valid profile'));
  });
}
