import type { ClusterRole, PolicyRule, Role } from '../../../../shared/api/types/rbac-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import { pathSegmentProblems } from '../../../../shared/meta/dns-names';
import type { NameRule } from '../../../../shared/meta/name-rules';
import type { ApiObject } from '../../../../shared/object/object';
import type { Strategy } from '../../../engine/registry/strategy';
import { CREATED_AT_TABLE } from '../../../engine/registry/object-table';
import type { Kind } from '../kind';
import { labelSelector } from '../rules/label-selectors';
import { forEachItem } from '../rules/primitives';
import { parsedSelector } from '../rules/selectors';

export type Rules<T extends ApiObject> = Pick<Strategy<T>, 'validate' | 'validateUpdate'>;

const roleRules: Rules<Role> = { validate: (role) => validatePolicyRules(role, true) };

const clusterRoleRules: Rules<ClusterRole> = {
  validate: (role) => [...validatePolicyRules(role, false), ...validateAggregation(role)],
};

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

/** Names such as `system:node`: a prefix gets no milder treatment. */
const rbacName: NameRule = (name) => pathSegmentProblems(name);

export const rbacStrategy = { createsOnUpdate: true, nameRule: rbacName } as const;

export const roles: Kind<Role> = { strategy: { ...rbacStrategy, ...roleRules }, table: CREATED_AT_TABLE };

export const clusterRoles: Kind<ClusterRole> = {
  strategy: { ...rbacStrategy, ...clusterRoleRules },
  table: CREATED_AT_TABLE,
};
