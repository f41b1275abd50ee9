import type {
  IDRange,
  PodSecurityPolicy,
  PodSecurityPolicySpec,
  RunAsGroupStrategyOptions,
  RuntimeClassStrategyOptions,
} from '../../../../shared/api/types/policy-v1beta1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { GoValue } from '../../../../shared/errors/go-values';
import { goNoItems, goStrings, goStruct, goStructs } from '../../../../shared/errors/go-values';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { ANNOTATION, GROUP } from '../../../../shared/names';
import type { KindSettings, Strategy } from '../../../engine/registry/strategy';
import { NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import { isOn } from '../field-gates';
import type { Kind } from '../kind';
import { appArmorProfileRule, seccompProfileRule } from '../pod-template/pod-annotations';
import type { Rule } from '../rules/primitives';
import { choice, forEachItem, invalidForEach, pathWithoutBacksteps, repeatsIn } from '../rules/primitives';
import { csiDriverName } from '../rules/storage-drivers';
import { sysctlRules } from './pod-security-policies-sysctls';
import { VOLUME_TYPES } from './volume-types';

const USER_RULES = ['MustRunAs', 'MustRunAsNonRoot', 'RunAsAny'];
const GROUP_RULES = ['MayRunAs', 'MustRunAs', 'RunAsAny'];
const RUN_AS_GROUP_RULES = ['MustRunAs', 'RunAsAny', 'MayRunAs'];
const ANY = '*';
const VOLUMES = [ANY, ...VOLUME_TYPES];

/** Some paths lack their beginning, as upstream's do. */
export const podSecurityPolicyRules: Pick<
  Strategy<PodSecurityPolicy>,
  'validate' | 'validateNew' | 'validateUpdate'
> = {
  validateNew: (policy, { settings }) => switchedVolumes(policy, settings),
  validateUpdate: (next, previous, { settings }) =>
    (previous.spec.volumes ?? []).includes(SWITCHED_TYPE) ? [] : switchedVolumes(next, settings),
  validate: ({ metadata, spec }) => {
    const { runAsGroup, runtimeClass, volumes = [], allowedProcMountTypes: procMounts = [] } = spec;
    return [
      ...validateProfiles(metadata.annotations ?? {}),
      ...validateIds(spec.runAsUser, 'spec.runAsUser', USER_RULES),
      ...(runAsGroup === undefined ? [] : validateRunAsGroup(runAsGroup)),
      ...choice(spec.seLinux.rule, 'spec.seLinux.rule', ['MustRunAs', 'RunAsAny']),
      ...validateIds(spec.supplementalGroups, 'spec.supplementalGroups', GROUP_RULES),
      ...validateIds(spec.fsGroup, 'spec.fsGroup', GROUP_RULES),
      ...forEachItem(volumes, 'spec', (volume) => choice(volume, 'spec.volumes', VOLUMES)),
      ...validateCapabilities(spec),
      ...(spec.defaultAllowPrivilegeEscalation === true && spec.allowPrivilegeEscalation === false
        ? [
            invalid(
              'spec.defaultAllowPrivilegeEscalation',
              true,
              'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true',
            ),
          ]
        : []),
      ...forEachItem(procMounts, 'spec.allowedProcMountTypes', (type, path) =>
        choice(type, path, ['Default', 'Unmasked']),
      ),
      ...validateAllowed(spec),
      ...sysctlRules(spec),
      ...(runtimeClass === undefined ? [] : validateRuntimeClasses(runtimeClass)),
    ];
  },
};

/** Belongs to a feature. */
const SWITCHED_TYPE = 'ephemeral';

function switchedVolumes({ spec }: PodSecurityPolicy, settings: KindSettings): FieldError[] {
  const { volumes = [] } = spec;
  if (isOn(settings, 'GenericEphemeralVolume') || !volumes.includes(SWITCHED_TYPE)) return [];
  const others = VOLUMES.filter((type) => type !== SWITCHED_TYPE);
  return [notSupported('spec.volumes', SWITCHED_TYPE, others)];
}

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

function validateRange({ min, max }: IDRange, path: string): FieldError[] {
  return [
    ...(min < 0 ? [invalid(`${path}.min`, min, 'min cannot be negative')] : []),
    ...(max < 0 ? [invalid(`${path}.max`, max, 'max cannot be negative')] : []),
    ...(min > max ? [invalid(`${path}.min`, min, 'min cannot be greater than max')] : []),
  ];
}

function validateRunAsGroup({ rule, ranges = [] }: RunAsGroupStrategyOptions): FieldError[] {
  const path = 'spec.runAsGroup';
  if (!RUN_AS_GROUP_RULES.includes(rule)) return [notSupported(`${path}.rule`, rule, RUN_AS_GROUP_RULES)];
  if (rule === 'RunAsAny') {
    return ranges.length === 0 ? [] : [invalid(`${path}.ranges`, goRanges(ranges), 'Ranges must be empty')];
  }
  return ranges.length === 0
    ? [invalid(`${path}.ranges`, goNoItems('policy.IDRange'), 'must provide at least one range')]
    : forEachItem(ranges, `${path}.ranges`, validateRange);
}

function goRanges(ranges: readonly IDRange[]): GoValue {
  const items = ranges.map(({ min, max }) =>
    goStruct('policy.IDRange', { Min: String(min), Max: String(max) }),
  );
  return goStructs('policy.IDRange', items);
}

const GRANTED = ['defaultAddCapabilities', 'allowedCapabilities'] as const;

function validateCapabilities(spec: PodSecurityPolicySpec): FieldError[] {
  const { requiredDropCapabilities: dropped = [], allowedCapabilities: allowed = [] } = spec;
  const isDropped = new Set(dropped);
  return [
    ...(dropped.length > 0 && allowed.includes(ANY)
      ? [
          invalid(
            'requiredDropCapabilities',
            goStrings(dropped, 'core.Capability'),
            'must be empty when all capabilities are allowed by a wildcard',
          ),
        ]
      : []),
    ...GRANTED.flatMap((field) =>
      (spec[field] ?? [])
        .filter((capability) => isDropped.has(capability))
        .map((capability) =>
          invalid(field, capability, `capability is listed in ${field} and requiredDropCapabilities`),
        ),
    ),
  ];
}

function validateAllowed(spec: PodSecurityPolicySpec): FieldError[] {
  const { allowedHostPaths = [], allowedFlexVolumes = [], allowedCSIDrivers = [] } = spec;
  const isEmpty = ({ pathPrefix = '' }: (typeof allowedHostPaths)[number]): boolean => pathPrefix === '';
  // As upstream, validation stops at the first empty profile.
  const seen = allowedHostPaths.slice(0, allowedHostPaths.findIndex(isEmpty) + 1 || Infinity);
  return [
    ...forEachItem(seen, 'spec.allowedHostPaths', ({ pathPrefix = '' }, path) =>
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

function validateRuntimeClasses(classes: RuntimeClassStrategyOptions): FieldError[] {
  const path = 'spec.runtimeClass';
  const listPath = `${path}.allowedRuntimeClassNames`;
  const { defaultRuntimeClassName: fallback } = classes;
  const allowed = classes.allowedRuntimeClassNames ?? [];
  const isKnown = new Set(allowed);
  const isRepeated = repeatsIn(allowed);
  return [
    ...forEachItem(allowed, listPath, (name, at, index) => [
      ...(name === ANY ? [] : runtimeClassName(name, at)),
      ...(isRepeated(index) ? [duplicate(at, name)] : []),
    ]),
    ...(fallback === undefined ? [] : runtimeClassName(fallback, `${path}.defaultRuntimeClassName`)),
    ...(fallback === undefined || isKnown.has(fallback) || isKnown.has(ANY)
      ? []
      : [required(listPath, `default ${goQuote(fallback)} must be allowed`)]),
    ...(isKnown.has(ANY) && allowed.length > 1
      ? [invalid(listPath, allowed, "if '*' is present, must not specify other RuntimeClass names")]
      : []),
  ];
}

function runtimeClassName(name: string, path: string): FieldError[] {
  return invalidForEach(dns1123SubdomainProblems(name), name, path);
}

interface ProfileAnnotation {
  readonly key: string;
  readonly rule: Rule<string>;
  /** A comma-separated list; the asterisk allows every profile. */
  readonly any?: string;
  readonly isList: boolean;
}

/** The old homes of profiles: one that is used by default, and a list of those that may be. */
const PROFILES: readonly ProfileAnnotation[] = [
  { key: ANNOTATION.appArmorDefaultProfile, rule: appArmorProfileRule, isList: false },
  { key: ANNOTATION.appArmorAllowedProfiles, rule: appArmorProfileRule, isList: true },
  { key: ANNOTATION.seccompDefaultProfile, rule: seccompProfileRule, isList: false },
  { key: ANNOTATION.seccompAllowedProfiles, rule: seccompProfileRule, isList: true, any: ANY },
];

function validateProfiles(annotations: Readonly<Record<string, string>>): FieldError[] {
  return PROFILES.flatMap(({ key, rule, isList, any }) => {
    const value = annotations[key] ?? '';
    if (value === '') return [];
    const profiles = isList ? value.split(',') : [value];
    return profiles.flatMap((profile) =>
      profile === any ? [] : rule(profile, `metadata.annotations[${key}]`),
    );
  });
}

const podSecurityPolicyStrategy: Strategy<PodSecurityPolicy> = {
  compat: {
    metadataChecks: 'old names',
    returnsDeletedObject: true,
    groupInErrors: GROUP.extensions,
    keyInErrors: 'podsecuritypolicy',
  },
  ...podSecurityPolicyRules,
  prepareForCreate: (object, { settings }) =>
    isOn(settings, 'ProcMountType') ? object : withoutProcMounts(object),
  prepareForUpdate: (next, previous, { settings }) =>
    isOn(settings, 'ProcMountType') || hasProcMounts(previous) ? next : withoutProcMounts(next),
};

/** Other mounts of `/proc` belong to a feature that is off by default; a policy that has had them keeps them. */
function withoutProcMounts(object: PodSecurityPolicy): PodSecurityPolicy {
  const { allowedProcMountTypes: _types, ...spec } = object.spec;
  return { ...object, spec };
}

function hasProcMounts({ spec: { allowedProcMountTypes: types = [] } }: PodSecurityPolicy): boolean {
  return types.length > 0;
}

const podSecurityPolicyTable = tableOf<PodSecurityPolicy>([
  NAME,
  { name: 'Priv', cell: ({ spec }) => String(spec.privileged ?? false) },
  { name: 'Caps', cell: ({ spec }) => (spec.allowedCapabilities ?? []).join(',') },
  { name: 'SELinux', cell: ({ spec }) => spec.seLinux.rule },
  { name: 'RunAsUser', cell: ({ spec }) => spec.runAsUser.rule },
  { name: 'FsGroup', cell: ({ spec }) => spec.fsGroup.rule ?? '' },
  { name: 'SupGroup', cell: ({ spec }) => spec.supplementalGroups.rule ?? '' },
  { name: 'ReadOnlyRootFs', cell: ({ spec }) => spec.readOnlyRootFilesystem ?? false },
  { name: 'Volumes', cell: ({ spec }) => (spec.volumes ?? []).join(',') },
]);

export const podSecurityPolicies: Kind<PodSecurityPolicy> = {
  strategy: podSecurityPolicyStrategy,
  table: podSecurityPolicyTable,
};
