import { GROUP } from '../../../../shared/names';
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  RoleRef,
  Subject,
} from '../../../../shared/api/types/rbac-v1';
import type { ApiObject } from '../../../../shared/object/object';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { deepEqual } from '../../../../shared/object/clone';
import type { GoValue } from '../../../../shared/errors/go-values';
import { goStruct } from '../../../../shared/errors/go-values';
import { goQuote } from '../../../../shared/errors/go-quote';
import { dns1123SubdomainProblems, pathSegmentProblems } from '../../../../shared/meta/dns-names';
import type { Strategy } from '../../../engine/registry/strategy';
import { choice, forEachItem, optionalForm, requiredText } from '../rules/primitives';
import { labelSelector } from '../rules/label-selectors';
import { parsedSelector } from '../rules/selectors';

type Rules<T extends ApiObject> = Pick<Strategy<T>, 'validate' | 'validateUpdate'>;

export const roleRules: Rules<Role> = { validate: (role) => validatePolicyRules(role, true) };

export const clusterRoleRules: Rules<ClusterRole> = {
  validate: (role) => [...validatePolicyRules(role, false), ...validateAggregation(role)],
};

export const roleBindingRules: Rules<RoleBinding> = bindingRules(['Role', 'ClusterRole'], true);
export const clusterRoleBindingRules: Rules<ClusterRoleBinding> = bindingRules(['ClusterRole'], false);

function validatePolicyRules({ rules }: Role | ClusterRole, namespaced: boolean): FieldError[] {
  return forEachItem(rules ?? [], 'rules', (rule, path) => policyRule(rule, path, namespaced));
}

const OF_RESOURCES = ['apiGroups', 'resources', 'resourceNames'] as const;
const OF_EVERY_RESOURCE = ['apiGroups', 'resources'] as const;

const MISSING = {
  apiGroups: 'resource rules must supply at least one api group',
  resources: 'resource rules must supply at least one resource',
} as const;

/** A rule is about resources or about URLs, and says what may be done. */
function policyRule(rule: PolicyRule, path: string, namespaced: boolean): FieldError[] {
  const verbs =
    (rule.verbs ?? []).length === 0
      ? [required(`${path}.verbs`, 'verbs must contain at least one value')]
      : [];
  const { nonResourceURLs: urls = [] } = rule;
  const about = OF_RESOURCES.filter((field) => (rule[field] ?? []).length > 0);
  if (urls.length === 0) {
    const missing = OF_EVERY_RESOURCE.filter((field) => !about.includes(field));
    return [...verbs, ...missing.map((field) => required(`${path}.${field}`, MISSING[field]))];
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

function validateAggregation({ aggregationRule }: ClusterRole): FieldError[] {
  if (aggregationRule === undefined) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const { clusterRoleSelectors: selectors = [] } = aggregationRule;
  return selectors.length === 0
    ? [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
    : forEachItem(selectors, path, (selector, at) => [
        ...labelSelector(selector, at),
        ...(parsedSelector(selector) === undefined ? [invalid(at, null, 'invalid label selector.')] : []),
      ]);
}

function bindingRules(
  roleKinds: readonly string[],
  namespaced: boolean,
): Rules<RoleBinding | ClusterRoleBinding> {
  return {
    validate: ({ roleRef, subjects = [] }) => [
      ...validateRoleRef(roleRef, roleKinds),
      ...forEachItem(subjects, 'subjects', (subject, path) => validateSubject(subject, path, namespaced)),
    ],
    validateUpdate: (next, previous) =>
      deepEqual(next.roleRef, previous.roleRef)
        ? []
        : [invalid('roleRef', roleRefInGo(next.roleRef), 'cannot change roleRef')],
  };
}

function roleRefInGo({ apiGroup, kind, name }: RoleRef): GoValue {
  return goStruct('rbac.RoleRef', {
    APIGroup: goQuote(apiGroup),
    Kind: goQuote(kind),
    Name: goQuote(name),
  });
}

function validateRoleRef({ apiGroup, kind, name }: RoleRef, kinds: readonly string[]): FieldError[] {
  return [
    // Defaulting has written down what an empty one means.
    ...choice(apiGroup, 'roleRef.apiGroup', [GROUP.rbac]),
    ...choice(kind, 'roleRef.kind', kinds),
    ...requiredText(name, 'roleRef.name', pathSegmentProblems),
  ];
}

function validateSubject(subject: Subject, path: string, namespaced: boolean): FieldError[] {
  const { kind, apiGroup, namespace = '' } = subject;
  const name = subject.name === '' ? [required(`${path}.name`)] : [];
  const group = `${path}.apiGroup`;
  switch (kind) {
    case 'ServiceAccount':
      return [
        ...name,
        ...optionalForm(subject.name, `${path}.name`, dns1123SubdomainProblems),
        ...((apiGroup ?? '') === '' ? [] : [notSupported(group, apiGroup, [''])]),
        ...(!namespaced && namespace === '' ? [required(`${path}.namespace`)] : []),
      ];
    case 'User':
    case 'Group':
      return [...name, ...choice(apiGroup ?? GROUP.rbac, group, [GROUP.rbac])];
    default:
      return [...name, ...choice(kind, `${path}.kind`, ['ServiceAccount', 'User', 'Group'])];
  }
}
