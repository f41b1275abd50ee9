import type {
  PodSchedulingGate,
  PodSchedulingGroup,
  PodSpec,
  PodTemplateSpec,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, forbiddenField, invalid, tooLong } from '../../../../shared/errors/field-error';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  qualifiedNameProblems,
} from '../../../../shared/meta/dns-names';
import { validateAnnotations, validateLabels } from '../../../../shared/meta/validate-labels';
import { validateAffinity } from './affinity';
import type { ReadonlyJson } from '../../../../shared/object/json';
import { integer } from '../../../../shared/object/accessors';
import type { KindSettings } from '../../../engine/registry/strategy';
import { validateContainers } from './containers';
import { validateAppArmorTwins, validatePodAnnotations, validateSeccompTwins } from './pod-annotations';
import type { Rule } from '../rules/primitives';
import {
  choice,
  each,
  fields,
  forEachItem,
  ifPresent,
  invalidForEach,
  optionalForm,
  optionalSubdomain,
  requiredChoice,
} from '../rules/primitives';
import { validateFileKeyVolumes } from './env';
import { validateHostProcesses, validateOperatingSystem } from './operating-system';
import { validatePodResources } from './pod-resources';
import { validatePodResourceClaims } from './resource-claims';
import { validateResourceRequirements } from './resource-requirements';
import { validateDnsConfig, validateHostAliases, validateTopologySpread } from './scheduling';
import { validatePodSecurity, validateUserNamespace } from './security-context';
import { validateTolerations } from './tolerations';
import { validateVolumes } from './volumes';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const INT32_MAX = 2_147_483_647;

const dnsLabel: Rule = (value, path) => optionalForm(value, path, dns1123LabelProblems);

const policyFields = fields<PodSpec>({
  restartPolicy: (value, path) => requiredChoice(value, path, RESTART_POLICIES),
  dnsPolicy: (value, path) => requiredChoice(value, path, DNS_POLICIES),
  nodeSelector: validateLabels,
});

const gates = fields<PodSpec>({
  readinessGates: each(({ conditionType: type }, path) =>
    invalidForEach(qualifiedNameProblems(type), type, `${path}.conditionType`),
  ),
  schedulingGates: schedulingGateNames,
});

const otherFields = fields<PodSpec>({
  serviceAccountName: optionalSubdomain,
  nodeName: optionalSubdomain,
  activeDeadlineSeconds: ifPresent((value, path) => {
    const seconds = integer(value) ?? 0;
    if (seconds >= 1 && seconds <= INT32_MAX) return [];
    return [invalid(path, seconds, `must be between 1 and ${String(INT32_MAX)}, inclusive`)];
  }),
  hostname: dnsLabel,
  subdomain: dnsLabel,
  tolerations: validateTolerations,
  hostAliases: validateHostAliases,
  priorityClassName: optionalSubdomain,
  runtimeClassName: ifPresent((name, path) => invalidForEach(dns1123SubdomainProblems(name), name, path)),
  preemptionPolicy: ifPresent((value, path) =>
    requiredChoice(value, path, ['PreemptLowerPriority', 'Never']),
  ),
  overhead: ifPresent((limits, path) => validateResourceRequirements({ limits }, path)),
});

interface ValidatedSpec {
  readonly spec: PodSpec;
  readonly path: string;
  readonly podName: string;
  readonly settings: KindSettings;
}

/** Specs without a fault, by their list of containers: writes that leave a spec alone share its members with the stored object. */
const faultless = new WeakMap<object, ValidatedSpec>();

/** Validates the spec of a pod or of a template (`podName` is empty). A spec that just passed is not validated again. */
export function validatePodSpec(
  spec: PodSpec,
  path: string,
  podName: string,
  settings: KindSettings,
): FieldError[] {
  const key = spec.containers ?? undefined;
  const known = key === undefined ? undefined : faultless.get(key);
  if (
    known?.path === path &&
    known.podName === podName &&
    known.settings === settings &&
    haveSameMembers(known.spec, spec)
  ) {
    return [];
  }
  const errors = collectPodSpecErrors(spec, path, podName, settings);
  if (key !== undefined && errors.length === 0) faultless.set(key, { spec, path, podName, settings });
  return errors;
}

/** Members that are objects must be the very same. */
function haveSameMembers(a: ReadonlyJson, b: ReadonlyJson): boolean {
  let surplus = 0;
  for (const name in a) {
    if (a[name] !== b[name]) return false;
    surplus += 1;
  }
  for (const _name in b) surplus -= 1;
  return surplus === 0;
}

/** All errors of the spec of a pod, or of a template (`podName` is empty). */
export function collectPodSpecErrors(
  spec: PodSpec,
  path: string,
  podName: string,
  settings: KindSettings,
): FieldError[] {
  const { errors, volumes } = validateVolumes(spec.volumes, `${path}.volumes`, podName);
  return [
    ...errors,
    ...validatePodResourceClaims(spec.resourceClaims, `${path}.resourceClaims`),
    ...validateContainers({ spec, volumes, settings }, path),
    ...validatePodResources(spec, path),
    ...policyFields(spec, path),
    ...validatePodSecurity(spec, path, podName !== '', settings),
    ...validateAffinity(spec.affinity, `${path}.affinity`),
    ...validateDnsConfig(spec, `${path}.dnsConfig`, settings),
    ...gates(spec, path),
    ...validateTopologySpread(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`, settings),
    ...validateHostProcesses(spec, path),
    ...validateUserNamespace(spec, path, settings),
    ...validateHostnameOverride(spec, path),
    ...otherFields(spec, path),
    ...validateOperatingSystem(spec, path),
    ...validateSchedulingGroup(spec.schedulingGroup, `${path}.schedulingGroup`),
    ...validateFileKeyVolumes(spec, path),
  ];
}

function schedulingGateNames(given: readonly PodSchedulingGate[] | undefined, path: string): FieldError[] {
  const names = new Set<string>();
  return forEachItem(given ?? [], path, ({ name }, at) => {
    const again = names.has(name);
    names.add(name);
    return [
      ...invalidForEach(qualifiedNameProblems(name), name, at),
      ...(again ? [duplicate(at, name)] : []),
    ];
  });
}

const HOSTNAME_BYTES_MAX = 64;

/** Another host name than that of the pod, which takes no other form and is not that of the node. */
function validateHostnameOverride(spec: PodSpec, path: string): FieldError[] {
  const { hostnameOverride: name } = spec;
  const at = `${path}.hostnameOverride`;
  if (name === undefined) return [];
  return [
    ...(spec.setHostnameAsFQDN === true
      ? [forbiddenField(at, 'may not be specified when setHostnameAsFQDN is true')]
      : []),
    ...(spec.hostNetwork === true
      ? [forbiddenField(at, 'may not be specified when hostNetwork is true')]
      : []),
    ...(Buffer.byteLength(name) > HOSTNAME_BYTES_MAX ? [tooLong(at, '', HOSTNAME_BYTES_MAX)] : []),
    ...invalidForEach(dns1123SubdomainProblems(name), name, at),
  ];
}

function validateSchedulingGroup(group: PodSchedulingGroup | undefined, path: string): FieldError[] {
  if (group === undefined) return [];
  const { podGroupName: name } = group;
  const at = `${path}.podGroupName`;
  if (name === undefined) return [invalid(at, null, 'must specify one of: `podGroupName`')];
  return invalidForEach(dns1123SubdomainProblems(name), name, at);
}

/** Labels and annotations of a template, without its spec. */
export function validateTemplateMeta({ metadata, spec }: PodTemplateSpec, path: string): FieldError[] {
  const { labels, annotations = {} } = metadata;
  // Upstream's paths leave `metadata` out.
  return [
    ...validateLabels(labels, `${path}.labels`),
    ...validateAnnotations(annotations, `${path}.annotations`),
    ...validatePodAnnotations(annotations, `${path}.annotations`, spec),
  ];
}

/** A PodTemplateSpec. */
export function validatePodTemplateSpec(
  template: PodTemplateSpec,
  path: string,
  settings: KindSettings,
): FieldError[] {
  const { spec, metadata } = template;
  const hasEphemeral = (spec.ephemeralContainers ?? []).length > 0;
  return [
    ...validateTemplateMeta(template, path),
    ...validatePodSpec(spec, `${path}.spec`, '', settings),
    ...validateSeccompTwins(metadata.annotations ?? {}, spec, `${path}.spec`),
    ...validateAppArmorTwins(metadata.annotations ?? {}, spec, `${path}.spec`),
    ...(hasEphemeral
      ? [
          forbiddenField(
            `${path}.spec.ephemeralContainers`,
            'ephemeral containers not allowed in pod template',
          ),
        ]
      : []),
  ];
}

/** A replicated pod always restarts and has no deadline. */
export function validateReplicatedPodSpec(
  { spec }: PodTemplateSpec,
  path: string,
  kind: string,
): FieldError[] {
  return [
    ...choice(spec.restartPolicy, `${path}.spec.restartPolicy`, ['Always']),
    ...(spec.activeDeadlineSeconds === undefined
      ? []
      : [
          forbiddenField(
            `${path}.spec.activeDeadlineSeconds`,
            `activeDeadlineSeconds in ${kind} is not Supported`,
          ),
        ]),
  ];
}
