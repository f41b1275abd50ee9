import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
} from '../../../../shared/api/types/core-v1';
import { isInForce } from '../../../../shared/api/changes';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from '../../../../shared/meta/dns-names';
import { validateLabelSelector } from '../../../../shared/meta/validate-labels';
import { forEachItem, invalidForEach } from '../rules/primitives';
import { byLaterRule } from './later-rules';
import { validateLabelKeys } from './scheduling';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const WEIGHT_MAX = 100;

/** The `affinity` of a pod. */
export function validateAffinity(affinity: Affinity | undefined, path: string): FieldError[] {
  if (affinity === undefined) return [];
  return [
    ...nodeAffinity(affinity.nodeAffinity ?? {}, `${path}.nodeAffinity`),
    ...podAffinity(affinity.podAffinity ?? {}, `${path}.podAffinity`),
    ...podAffinity(affinity.podAntiAffinity ?? {}, `${path}.podAntiAffinity`),
  ];
}

function nodeAffinity(affinity: NodeAffinity, path: string): FieldError[] {
  const selector = affinity[REQUIRED];
  return [
    ...(selector === undefined
      ? []
      : [
          ...validateNodeSelector(selector, `${path}.${REQUIRED}`),
          ...byLaterRule('node affinity values', nodeSelectorValues(selector, `${path}.${REQUIRED}`)),
        ]),
    ...forEachItem(affinity[PREFERRED] ?? [], `${path}.${PREFERRED}`, (term, at) => [
      ...weight(term.weight, at),
      ...nodeSelectorTerm(term.preference, `${at}.preference`),
    ]),
  ];
}

/** A NodeSelector: at least one term. */
export function validateNodeSelector(selector: NodeSelector, path: string): FieldError[] {
  const terms = selector.nodeSelectorTerms ?? [];
  const at = `${path}.nodeSelectorTerms`;
  if (terms.length === 0) return [required(at, 'must have at least one node selector term')];
  return forEachItem(terms, at, nodeSelectorTerm);
}

/** Values that no label of a node can have. */
export function nodeSelectorValues({ nodeSelectorTerms: terms }: NodeSelector, path: string): FieldError[] {
  if (!isInForce('nodeAffinityValues')) return [];
  return forEachItem(terms ?? [], `${path}.nodeSelectorTerms`, ({ matchExpressions = [] }, at) =>
    forEachItem(matchExpressions, `${at}.matchExpressions`, ({ values = [] }, place) =>
      forEachItem(values, `${place}.values`, (value, each) =>
        invalidForEach(labelValueProblems(value), value, each),
      ),
    ),
  );
}

function nodeSelectorTerm(term: NodeSelectorTerm, path: string): FieldError[] {
  return [
    ...forEachItem(term.matchExpressions ?? [], `${path}.matchExpressions`, labelRequirement),
    ...forEachItem(term.matchFields ?? [], `${path}.matchFields`, fieldRequirement),
  ];
}

function labelRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  path: string,
): FieldError[] {
  return [
    ...operatorValues(operator, values.length, path),
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
function fieldRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  path: string,
): FieldError[] {
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

function podAffinity(affinity: PodAffinity, path: string): FieldError[] {
  return [
    ...forEachItem(affinity[REQUIRED] ?? [], `${path}.${REQUIRED}`, podAffinityTerm),
    ...forEachItem(affinity[PREFERRED] ?? [], `${path}.${PREFERRED}`, (term, at) => [
      ...weight(term.weight, at),
      ...podAffinityTerm(term.podAffinityTerm, `${at}.podAffinityTerm`),
    ]),
  ];
}

/** The paths of the selector and of the namespaces are upstream's. */
function podAffinityTerm(term: PodAffinityTerm, path: string): FieldError[] {
  const { topologyKey: key } = term;
  return [
    ...byLaterRule('affinity selectors', [
      ...validateLabelSelector(
        term.labelSelector,
        `${path}.${isInForce('affinitySelectorPaths') ? 'labelSelector' : 'matchExpressions'}`,
      ),
      ...validateLabelSelector(term.namespaceSelector, `${path}.namespaceSelector`),
    ]),
    ...forEachItem(term.namespaces ?? [], path, (name) =>
      invalidForEach(dns1123LabelProblems(name), name, `${path}.namespace`),
    ),
    ...validateLabelKeys(term, path),
    ...(key === '' ? [required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...invalidForEach(qualifiedNameProblems(key), key, `${path}.topologyKey`),
  ];
}

function weight(given: number, path: string): FieldError[] {
  return given >= 1 && given <= WEIGHT_MAX
    ? []
    : [invalid(`${path}.weight`, given, 'must be in the range 1-100')];
}
