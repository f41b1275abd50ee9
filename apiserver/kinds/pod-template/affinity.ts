import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../shared/errors/field-error';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  qualifiedNameProblems,
} from '../../../shared/meta/dns-names';
import { validateLabelSelector } from '../../../shared/meta/validate-labels';
import type { Json } from '../../../shared/object/accessors';
import { integer, optionalRecord, record, records, strings, text } from '../../../shared/object/accessors';
import { forEachItem, invalidForEach } from '../rules/primitives';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const WEIGHT_MAX = 100;

/** The `affinity` of a pod. */
export function validateAffinity(value: unknown, path: string): FieldError[] {
  const affinity = record(value);
  return [
    ...nodeAffinity(record(affinity['nodeAffinity']), `${path}.nodeAffinity`),
    ...podAffinity(record(affinity['podAffinity']), `${path}.podAffinity`),
    ...podAffinity(record(affinity['podAntiAffinity']), `${path}.podAntiAffinity`),
  ];
}

function nodeAffinity(affinity: Json, path: string): FieldError[] {
  const selector = optionalRecord(affinity[REQUIRED]);
  return [
    ...(selector === undefined ? [] : validateNodeSelector(selector, `${path}.${REQUIRED}`)),
    ...forEachItem(records(affinity[PREFERRED]), `${path}.${PREFERRED}`, (term, at) => [
      ...weight(term, at),
      ...nodeSelectorTerm(record(term['preference']), `${at}.preference`),
    ]),
  ];
}

/** A NodeSelector: at least one term. */
export function validateNodeSelector(selector: Json, path: string): FieldError[] {
  const terms = records(selector['nodeSelectorTerms']);
  const at = `${path}.nodeSelectorTerms`;
  if (terms.length === 0) return [required(at, 'must have at least one node selector term')];
  return forEachItem(terms, at, nodeSelectorTerm);
}

function nodeSelectorTerm(term: Json, path: string): FieldError[] {
  return [
    ...forEachItem(records(term['matchExpressions']), `${path}.matchExpressions`, labelRequirement),
    ...forEachItem(records(term['matchFields']), `${path}.matchFields`, fieldRequirement),
  ];
}

function labelRequirement(requirement: Json, path: string): FieldError[] {
  const key = text(requirement['key']);
  return [
    ...operatorValues(text(requirement['operator']), strings(requirement['values']).length, path),
    ...invalidForEach(qualifiedNameProblems(key), key, `${path}.key`),
  ];
}

function operatorValues(operator: string, count: number, path: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count > 0
        ? []
        : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return count === 0
        ? []
        : [
            forbiddenField(
              `${path}.values`,
              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
          ];
    case 'Gt':
    case 'Lt':
      return count === 1
        ? []
        : [required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalid(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}

/** The one field that singles out nodes is their name. */
function fieldRequirement(requirement: Json, path: string): FieldError[] {
  const operator = text(requirement['operator']);
  const values = strings(requirement['values']);
  const key = text(requirement['key']);
  const isKnown = operator === 'In' || operator === 'NotIn';
  const one = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
  return [
    ...(isKnown ? [] : [invalid(`${path}.operator`, operator, 'not a valid selector operator')]),
    ...(isKnown && values.length !== 1 ? [required(`${path}.values`, one)] : []),
    ...(key === 'metadata.name'
      ? forEachItem(values, `${path}.values`, (name, at) =>
          invalidForEach(dns1123SubdomainProblems(name), name, at),
        )
      : [invalid(`${path}.key`, key, 'not a valid field selector key')]),
  ];
}

function podAffinity(affinity: Json, path: string): FieldError[] {
  return [
    ...forEachItem(records(affinity[REQUIRED]), `${path}.${REQUIRED}`, podAffinityTerm),
    ...forEachItem(records(affinity[PREFERRED]), `${path}.${PREFERRED}`, (term, at) => [
      ...weight(term, at),
      ...podAffinityTerm(record(term['podAffinityTerm']), `${at}.podAffinityTerm`),
    ]),
  ];
}

/** The paths of the selector and of the namespaces are upstream's. */
function podAffinityTerm(term: Json, path: string): FieldError[] {
  const key = text(term['topologyKey']);
  return [
    ...validateLabelSelector(optionalRecord(term['labelSelector']), `${path}.matchExpressions`),
    ...validateLabelSelector(optionalRecord(term['namespaceSelector']), `${path}.namespaceSelector`),
    ...forEachItem(strings(term['namespaces']), path, (name) =>
      invalidForEach(dns1123LabelProblems(name), name, `${path}.namespace`),
    ),
    ...(key === '' ? [required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...invalidForEach(qualifiedNameProblems(key), key, `${path}.topologyKey`),
  ];
}

function weight(term: Json, path: string): FieldError[] {
  const given = integer(term['weight']) ?? 0;
  return given >= 1 && given <= WEIGHT_MAX
    ? []
    : [invalid(`${path}.weight`, given, 'must be in the range 1-100')];
}
