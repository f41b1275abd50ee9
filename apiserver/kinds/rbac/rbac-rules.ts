import { GROUP } from '../../../shared/names';
import type { ApiObject } from '../../../shared/object/object';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../shared/errors/field-error';
import { deepEqual } from '../../../shared/object/clone';
import { dns1123SubdomainProblems, pathSegmentProblems } from '../../../shared/meta/dns-names';
import type { Strategy } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record, records, strings, text } from '../../../shared/object/accessors';
import { choice, forEachItem, optionalForm, requiredText } from '../rules/primitives';
import { labelSelector } from '../rules/label-selectors';

type Rules = Pick<Strategy, 'validate' | 'validateUpdate'>;

export const roleRules: Rules = { validate: (role) => validatePolicyRules(role, true) };

export const clusterRoleRules: Rules = {
  validate: (role) => [...validatePolicyRules(role, false), ...validateAggregation(role)],
};

export const roleBindingRules: Rules = bindingRules(['Role', 'ClusterRole'], true);
export const clusterRoleBindingRules: Rules = bindingRules(['ClusterRole'], false);

function validatePolicyRules(role: ApiObject, namespaced: boolean): FieldError[] {
  return forEachItem(records(role['rules']), 'rules', (rule, path) => policyRule(rule, path, namespaced));
}

/** A rule is about resources or about URLs, and says what may be done. */
function policyRule(rule: Json, path: string, namespaced: boolean): FieldError[] {
  const verbs =
    strings(rule['verbs']).length === 0
      ? [required(`${path}.verbs`, 'verbs must contain at least one value')]
      : [];
  const urls = strings(rule['nonResourceURLs']);
  const about = ['apiGroups', 'resources', 'resourceNames'].filter(
    (field) => strings(rule[field]).length > 0,
  );
  if (urls.length === 0) {
    const missing = ['apiGroups', 'resources'].filter((field) => !about.includes(field));
    return [
      ...verbs,
      ...missing.map((field) => required(`${path}.${field}`, 'resource rules must supply at least one')),
    ];
  }
  const at = `${path}.nonResourceURLs`;
  return [
    ...verbs,
    ...(namespaced ? [invalid(at, urls, 'namespaced rules cannot apply to non-resource URLs')] : []),
    ...(about.length > 0
      ? [invalid(at, urls, 'rules cannot apply to both regular resources and non-resource URLs')]
      : []),
  ];
}

function validateAggregation(role: ApiObject): FieldError[] {
  const aggregation = optionalRecord(role['aggregationRule']);
  if (aggregation === undefined) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = records(aggregation['clusterRoleSelectors']);
  return selectors.length === 0
    ? [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
    : forEachItem(selectors, path, labelSelector);
}

function bindingRules(roleKinds: readonly string[], namespaced: boolean): Rules {
  return {
    validate: (binding) => [
      ...validateRoleRef(record(binding['roleRef']), roleKinds),
      ...forEachItem(records(binding['subjects']), 'subjects', (subject, path) =>
        validateSubject(subject, path, namespaced),
      ),
    ],
    validateUpdate: (next, previous) =>
      deepEqual(next['roleRef'], previous['roleRef'])
        ? []
        : [invalid('roleRef', next['roleRef'], 'cannot change roleRef')],
  };
}

function validateRoleRef(roleRef: Json, kinds: readonly string[]): FieldError[] {
  return [
    // Absent means this group, which defaulting writes down.
    ...choice(roleRef['apiGroup'] ?? GROUP.rbac, 'roleRef.apiGroup', [GROUP.rbac]),
    ...choice(roleRef['kind'], 'roleRef.kind', kinds),
    ...requiredText(roleRef['name'], 'roleRef.name', pathSegmentProblems),
  ];
}

function validateSubject(subject: Json, path: string, namespaced: boolean): FieldError[] {
  const name = text(subject['name']) === '' ? [required(`${path}.name`)] : [];
  const group = `${path}.apiGroup`;
  switch (subject['kind']) {
    case 'ServiceAccount':
      return [
        ...name,
        ...optionalForm(subject['name'], `${path}.name`, dns1123SubdomainProblems),
        ...(text(subject['apiGroup']) === '' ? [] : [notSupported(group, subject['apiGroup'], [''])]),
        ...(!namespaced && text(subject['namespace']) === '' ? [required(`${path}.namespace`)] : []),
      ];
    case 'User':
    case 'Group':
      return [...name, ...choice(subject['apiGroup'] ?? GROUP.rbac, group, [GROUP.rbac])];
    default:
      return [...name, ...choice(subject['kind'], `${path}.kind`, ['ServiceAccount', 'User', 'Group'])];
  }
}
