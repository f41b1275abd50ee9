import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../shared/errors/field-error';
import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record, text } from '../../../shared/object/accessors';
import { validateReplicatedPodSpec, validateTemplateMeta } from '../pod-template/pod-spec';
import { nonNegative } from '../rules/primitives';
import { parsedSelector, selectsTemplate, validateOwnSelector } from '../rules/selectors';

/** A StatefulSet. The spec of its pods is checked when they are made, as upstream. */
export function validateStatefulSet(object: ApiObject): FieldError[] {
  const spec = record(object['spec']);
  const selector = parsedSelector(spec['selector']);
  return [
    ...managementPolicy(text(spec['podManagementPolicy']), 'spec.podManagementPolicy'),
    ...updateStrategy(record(spec['updateStrategy']), 'spec.updateStrategy'),
    ...nonNegative(spec['replicas'], 'spec.replicas'),
    ...validateOwnSelector(spec['selector'], 'spec.selector', 'statefulset'),
    ...(selector === undefined
      ? [invalid('spec.selector', spec['selector'], '')]
      : selectsTemplate(selector, spec['template'], 'spec.template')),
    ...(selector === undefined ? [] : validateTemplateMeta(record(spec['template']), 'spec.template')),
    ...validateReplicatedPodSpec(spec['template'], 'spec.template', 'StatefulSet'),
  ];
}

function managementPolicy(policy: string, path: string): FieldError[] {
  if (policy === '') return [required(path)];
  if (policy === 'OrderedReady' || policy === 'Parallel') return [];
  return [invalid(path, policy, "must be 'OrderedReady' or 'Parallel'")];
}

function updateStrategy(strategy: Json, path: string): FieldError[] {
  const at = `${path}.rollingUpdate`;
  const rolling = optionalRecord(strategy['rollingUpdate']);
  switch (text(strategy['type'])) {
    case '':
      return [required(path)];
    case 'OnDelete':
      return rolling === undefined
        ? []
        : [invalid(at, rolling, "only allowed for updateStrategy 'RollingUpdate'")];
    case 'RollingUpdate':
      return nonNegative(record(rolling)['partition'], `${at}.partition`);
    default:
      return [invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")];
  }
}

/** Replicas, template and update strategy may change. */
export function validateStatefulSetUpdate(next: ApiObject, previous: ApiObject): FieldError[] {
  if (deepEqual(settled(next), settled(previous))) return [];
  const why =
    "updates to statefulset spec for fields other than 'replicas', 'template', and 'updateStrategy' are forbidden";
  return [forbiddenField('spec', why)];
}

function settled(object: ApiObject): Json {
  const {
    replicas: _replicas,
    template: _template,
    updateStrategy: _strategy,
    ...rest
  } = record(object['spec']);
  return rest;
}
