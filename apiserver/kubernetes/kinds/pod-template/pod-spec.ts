import type { PodSpec, PodTemplateSpec } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid } from '../../../../shared/errors/field-error';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  qualifiedNameProblems,
} from '../../../../shared/meta/dns-names';
import { validateAnnotations, validateLabels } from '../../../../shared/meta/validate-labels';
import { validateAffinity } from './affinity';
import type { ReadonlyJson } from '../../../../shared/object/json';
import { integer } from '../../../../shared/object/accessors';
import { validateContainers } from './containers';
import { validatePodAnnotations, validateSeccompTwins } from './pod-annotations';
import type { Rule } from '../rules/primitives';
import {
  choice,
  each,
  fields,
  ifPresent,
  invalidForEach,
  optionalForm,
  optionalSubdomain,
  requiredChoice,
} from '../rules/primitives';
import { validateResourceRequirements } from './resource-requirements';
import { validateDnsConfig, validateHostAliases, validateTopologySpread } from './scheduling';
import { validatePodSecurity } from './security-context';
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

const otherFields = fields<PodSpec>({
  readinessGates: each(({ conditionType: type }, path) =>
    invalidForEach(qualifiedNameProblems(type), type, `${path}.conditionType`),
  ),
  topologySpreadConstraints: validateTopologySpread,
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
}

/** Specs without a fault, by their list of containers: writes that leave a spec alone share its members with the stored object. */
const faultless = new WeakMap<object, ValidatedSpec>();

/** Validates the spec of a pod or of a template (`podName` is empty). A spec that just passed is not validated again. */
export function validatePodSpec(spec: PodSpec, path: string, podName: string): FieldError[] {
  const key = spec.containers ?? undefined;
  const known = key === undefined ? undefined : faultless.get(key);
  if (known?.path === path && known.podName === podName && haveSameMembers(known.spec, spec)) return [];
  const errors = collectPodSpecErrors(spec, path, podName);
  if (key !== undefined && errors.length === 0) faultless.set(key, { spec, path, podName });
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

function collectPodSpecErrors(spec: PodSpec, path: string, podName: string): FieldError[] {
  const { errors, volumes } = validateVolumes(spec.volumes, `${path}.volumes`, podName);
  return [
    ...errors,
    ...validateContainers(spec, path, volumes),
    ...policyFields(spec, path),
    ...validatePodSecurity(spec, path),
    ...validateAffinity(spec.affinity, `${path}.affinity`),
    ...validateDnsConfig(spec.dnsConfig, `${path}.dnsConfig`, spec.dnsPolicy ?? ''),
    ...otherFields(spec, path),
  ];
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
export function validatePodTemplateSpec(template: PodTemplateSpec, path: string): FieldError[] {
  const { spec, metadata } = template;
  const hasEphemeral = (spec.ephemeralContainers ?? []).length > 0;
  return [
    ...validateTemplateMeta(template, path),
    ...validatePodSpec(spec, `${path}.spec`, ''),
    ...validateSeccompTwins(metadata.annotations ?? {}, spec, `${path}.spec`),
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
