import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported, required } from '../../../shared/errors/field-error';
import type { LabelSelector } from '../../../shared/meta/labels';
import { labelSelectorOfMap } from '../../../shared/meta/labels';
import type { ApiObject } from '../../../shared/object/object';
import { validateLabelSelector } from '../../../shared/meta/validate-labels';
import type { Json } from '../../../shared/object/accessors';
import { integer, optionalRecord, record, stringMap, text } from '../../../shared/object/accessors';
import { validatePodTemplateSpec, validateReplicatedPodSpec } from '../pod-template/pod-spec';
import { fields, ifPresent, immutable, nonNegative } from '../rules/primitives';
import { atMostAll, intOrPercent, isNone } from '../rules/rollout';
import { notEmpty, parsedSelector, selectsTemplate, validateOwnSelector } from '../rules/selectors';
import { validateSharedDisks } from '../pod-template/volumes';

/** ReplicationController, ReplicaSet, Deployment, DaemonSet, PodTemplate and ControllerRevision. */

const counts = fields({
  replicas: nonNegative,
  minReadySeconds: nonNegative,
  revisionHistoryLimit: nonNegative,
  progressDeadlineSeconds: nonNegative,
});

/** A PodTemplate. */
export function validatePodTemplate(object: ApiObject): FieldError[] {
  return validatePodTemplateSpec(record(object['template']), 'template');
}

/** A ReplicationController. */
export function validateReplicationController(object: ApiObject): FieldError[] {
  const spec = record(object['spec']);
  const selector = stringMap(spec['selector']);
  return [
    ...counts(spec, 'spec'),
    ...(Object.keys(selector).length === 0 ? [required('spec.selector')] : []),
    ...replicatedTemplate(spec, labelSelectorOfMap(selector), 'ReplicationController'),
  ];
}

/** A ReplicaSet. */
export function validateReplicaSet(object: ApiObject): FieldError[] {
  const spec = record(object['spec']);
  return [...counts(spec, 'spec'), ...selectorAndTemplate(spec)];
}

/** A Deployment. */
export function validateDeployment(object: ApiObject): FieldError[] {
  const spec = record(object['spec']);
  const deadline = integer(spec['progressDeadlineSeconds']);
  return [
    ...counts(spec, 'spec'),
    ...selectorAndTemplate(spec),
    ...deploymentStrategy(record(spec['strategy']), 'spec.strategy'),
    ...(deadline !== undefined && deadline <= (integer(spec['minReadySeconds']) ?? 0)
      ? [invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')]
      : []),
  ];
}

/** The selector of a workload stays what it was. */
export function validateSelectorUpdate(next: ApiObject, previous: ApiObject): FieldError[] {
  return immutable(record(next['spec'])['selector'], record(previous['spec'])['selector'], 'spec.selector');
}

function selectorAndTemplate(spec: Json): FieldError[] {
  const selector = parsedSelector(spec['selector']);
  return [
    ...validateOwnSelector(spec['selector'], 'spec.selector', 'deployment'),
    ...(selector === undefined
      ? [invalid('spec.selector', spec['selector'], 'invalid label selector')]
      : replicatedTemplate(spec, selector, 'ReplicaSet')),
  ];
}

function replicatedTemplate(spec: Json, selector: LabelSelector, kind: string): FieldError[] {
  const path = 'spec.template';
  const template = optionalRecord(spec['template']);
  if (template === undefined) return [required(path)];
  const volumes = record(template['spec'])['volumes'];
  return [
    ...selectsTemplate(selector, template, path),
    ...validatePodTemplateSpec(template, path),
    ...((integer(spec['replicas']) ?? 0) > 1 ? validateSharedDisks(volumes, `${path}.spec.volumes`) : []),
    ...validateReplicatedPodSpec(template, path, kind),
  ];
}

function deploymentStrategy(strategy: Json, path: string): FieldError[] {
  const at = `${path}.rollingUpdate`;
  const rolling = optionalRecord(strategy['rollingUpdate']);
  switch (text(strategy['type'])) {
    case 'Recreate':
      return rolling === undefined
        ? []
        : [forbiddenField(at, "may not be specified when strategy `type` is 'Recreate'")];
    case 'RollingUpdate':
      return rolling === undefined
        ? [required(at, 'this should be defaulted and never be nil')]
        : rollingDeployment(rolling, at);
    default:
      return [notSupported(path, strategy, ['Recreate', 'RollingUpdate'])];
  }
}

function rollingDeployment(rolling: Json, path: string): FieldError[] {
  const { maxUnavailable, maxSurge } = rolling;
  const at = `${path}.maxUnavailable`;
  return [
    ...intOrPercent(maxUnavailable, at),
    ...intOrPercent(maxSurge, `${path}.maxSurge`),
    ...(isNone(maxUnavailable) && isNone(maxSurge)
      ? [invalid(at, maxUnavailable, 'may not be 0 when `maxSurge` is 0')]
      : []),
    ...atMostAll(maxUnavailable, at),
  ];
}

/** A DaemonSet: its pods share disks, for they are on many nodes. */
export function validateDaemonSet(object: ApiObject): FieldError[] {
  const spec = record(object['spec']);
  const selector = parsedSelector(spec['selector']);
  const path = 'spec.template';
  return [
    ...validateLabelSelector(optionalRecord(spec['selector']), 'spec.selector'),
    ...(selector === undefined ? [] : selectsTemplate(selector, spec['template'], path)),
    ...notEmpty(spec['selector'], 'spec.selector', 'daemonset'),
    ...validatePodTemplateSpec(record(spec['template']), path),
    ...validateSharedDisks(record(record(spec['template'])['spec'])['volumes'], `${path}.spec.volumes`),
    ...validateReplicatedPodSpec(spec['template'], path, 'DaemonSet'),
    ...counts({ ...spec, replicas: undefined, progressDeadlineSeconds: undefined }, 'spec'),
    ...daemonSetStrategy(record(spec['updateStrategy']), 'spec.updateStrategy'),
  ];
}

function daemonSetStrategy(strategy: Json, path: string): FieldError[] {
  const at = `${path}.rollingUpdate`;
  const rolling = optionalRecord(strategy['rollingUpdate']);
  switch (text(strategy['type'])) {
    case 'OnDelete':
      return [];
    case 'RollingUpdate':
      return rolling === undefined ? [required(at)] : rollingDaemonSet(rolling, at);
    default:
      return [notSupported(path, strategy, ['RollingUpdate', 'OnDelete'])];
  }
}

function rollingDaemonSet(rolling: Json, path: string): FieldError[] {
  const { maxUnavailable, maxSurge } = rolling;
  const surges = !isNone(maxSurge);
  const at = `${path}.maxUnavailable`;
  const surgeAt = `${path}.maxSurge`;
  return [
    ...intOrPercent(maxUnavailable, at),
    ...ifPresent(intOrPercent)(maxSurge, surgeAt),
    ...atMostAll(maxUnavailable, at),
    ...atMostAll(maxSurge, surgeAt),
    ...(surges && !isNone(maxUnavailable)
      ? [invalid(surgeAt, maxSurge, 'may not be set when maxUnavailable is non-zero')]
      : []),
    ...(!surges && isNone(maxUnavailable) ? [required(at, 'cannot be 0 when maxSurge is 0')] : []),
  ];
}

/** A ControllerRevision: a number and what it remembers. */
export function validateControllerRevision(object: ApiObject): FieldError[] {
  const isAbsent = object['data'] === undefined || object['data'] === null;
  return [
    ...(isAbsent ? [required('data', 'data is mandatory')] : []),
    ...nonNegative(object['revision'], 'revision'),
  ];
}

/** What a ControllerRevision remembers stays. */
export function validateControllerRevisionUpdate(next: ApiObject, previous: ApiObject): FieldError[] {
  return immutable(next['data'], previous['data'], 'data');
}
