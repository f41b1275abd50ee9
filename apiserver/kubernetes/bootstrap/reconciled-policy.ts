import { missingRules } from '../auth/rbac/covers';
import { policyRules, ruleAsJson } from '../auth/rbac/policy-rule';
import type { ClusterRole, Subject } from '../../../shared/api/types/rbac-v1';
import type { StoredBinding } from '../auth/rbac/binding';
import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { ANNOTATION } from '../../../shared/names';

/** Whoever sets this keeps the object as it is. */
function isProtected({ metadata }: ApiObject): boolean {
  return metadata.annotations?.[ANNOTATION.autoUpdate] === 'false';
}

/**
 * A role of the server's own that allows at least what it must. What is there besides stays, but an aggregation that is not expected
 * goes. The very same object when nothing is to be done, or when it is protected. A Role is like a ClusterRole that gathers nothing.
 */
export function reconciledRole(existing: ClusterRole, expected: ClusterRole): ClusterRole {
  if (isProtected(existing)) return existing;
  const next = withAggregation(withRules(withMarks(existing, expected), expected), expected);
  return deepEqual(next, existing) ? existing : next;
}

/** A binding of the server's own that concerns at least whom it must; `undefined`: it binds another role and is to be made anew. */
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

/** Labels and annotations that are missing; those that are there keep their values. */
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

/** The rules of an aggregated role are gathered by a controller. */
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
