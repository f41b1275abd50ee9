import { missingRules } from '../auth/rbac/covers';
import { policyRules, ruleAsJson } from '../auth/rbac/policy-rule';
import type { ClusterRole, Subject } from '../../../shared/api/types/rbac-v1';
import type { StoredBinding } from '../auth/rbac/binding';
import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { ANNOTATION } from '../../../shared/names';

/** The annotation that disables reconciliation of an object. */
function isProtected({ metadata }: ApiObject): boolean {
  return metadata.annotations?.[ANNOTATION.autoUpdate] === 'false';
}

/**
 * Returns the role with at least the expected rules. Additional rules are kept, but an unexpected aggregation is removed. Returns the
 * same object if it is up to date or protected. A Role is handled as a ClusterRole without aggregation.
 */
export function reconciledRole(existing: ClusterRole, expected: ClusterRole): ClusterRole {
  if (isProtected(existing)) return existing;
  const next = withAggregation(withRules(withMarks(existing, expected), expected), expected);
  return deepEqual(next, existing) ? existing : next;
}

/** Returns the binding with at least the expected subjects. `undefined` means that it binds another role and must be recreated. */
export function reconciledBinding(
  existing: StoredBinding,
  expected: StoredBinding,
): StoredBinding | undefined {
  if (isProtected(existing)) return existing;
  if (!deepEqual(existing.roleRef, expected.roleRef)) return undefined;
  const { subjects = [] } = existing;
  const missing = (expected.subjects ?? []).filter(
    (wanted) => !subjects.some((subject) => isSameSubject(subject, wanted)),
  );
  const marked = withMarks(existing, expected);
  const next = missing.length === 0 ? marked : { ...marked, subjects: [...subjects, ...missing] };
  return deepEqual(next, existing) ? existing : next;
}

/** Adds missing labels and annotations; existing values are kept. */
function withMarks<T extends ApiObject>(existing: T, expected: ApiObject): T {
  const { labels, annotations } = expected.metadata;
  return {
    ...existing,
    metadata: {
      ...existing.metadata,
      labels: { ...labels, ...existing.metadata.labels },
      annotations: { ...annotations, ...existing.metadata.annotations },
    },
  };
}

/** A controller computes the rules of an aggregated role. */
function withRules(existing: ClusterRole, expected: ClusterRole): ClusterRole {
  if (existing.aggregationRule !== undefined && expected.aggregationRule !== undefined) return existing;
  const missing = missingRules(policyRules(existing.rules), policyRules(expected.rules));
  if (missing.length === 0) return existing;
  return { ...existing, rules: [...(existing.rules ?? []), ...missing.map(ruleAsJson)] };
}

function withAggregation(existing: ClusterRole, expected: ClusterRole): ClusterRole {
  const wanted = expected.aggregationRule;
  const found = existing.aggregationRule;
  if (wanted === undefined) {
    const { aggregationRule: _unexpected, ...rest } = existing;
    return found === undefined ? existing : rest;
  }
  const selectors = found?.clusterRoleSelectors ?? [];
  const missing = (wanted.clusterRoleSelectors ?? []).filter(
    (selector) => !selectors.some((each) => deepEqual(each, selector)),
  );
  if (missing.length === 0) return existing;
  return { ...existing, aggregationRule: { ...found, clusterRoleSelectors: [...selectors, ...missing] } };
}

const IDENTITY = ['kind', 'apiGroup', 'name', 'namespace'] as const;

function isSameSubject(a: Subject, b: Subject): boolean {
  return IDENTITY.every((field) => (a[field] ?? '') === (b[field] ?? ''));
}
