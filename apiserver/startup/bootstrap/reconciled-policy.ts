import { missingRules } from '../../access/authorization/rbac/covers';
import { policyRules, ruleAsJson } from '../../access/authorization/rbac/policy-rule';
import { optionalRecord, records } from '../../../shared/object/accessors';
import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { ANNOTATION } from '../../../shared/names';

/** Whoever sets this keeps the object as it is. */
function isProtected({ metadata }: ApiObject): boolean {
  return metadata.annotations?.[ANNOTATION.autoUpdate] === 'false';
}

/**
 * A role of the server's own that allows at least what it must. What is there besides stays, but an aggregation that is not expected
 * goes. The very same object when nothing is to be done, or when it is protected.
 */
export function reconciledRole(existing: ApiObject, expected: ApiObject): ApiObject {
  if (isProtected(existing)) return existing;
  const next = withAggregation(withRules(withMarks(existing, expected), expected), expected);
  return deepEqual(next, existing) ? existing : next;
}

/** A binding of the server's own that concerns at least whom it must; `undefined`: it binds another role and is to be made anew. */
export function reconciledBinding(existing: ApiObject, expected: ApiObject): ApiObject | undefined {
  if (isProtected(existing)) return existing;
  if (!deepEqual(existing['roleRef'], expected['roleRef'])) return undefined;
  const subjects = records(existing['subjects']);
  const missing = records(expected['subjects']).filter(
    (wanted) => !subjects.some((subject) => isSameSubject(subject, wanted)),
  );
  const marked = withMarks(existing, expected);
  const next = missing.length === 0 ? marked : { ...marked, subjects: [...subjects, ...missing] };
  return deepEqual(next, existing) ? existing : next;
}

/** Labels and annotations that are missing; those that are there keep their values. */
function withMarks(existing: ApiObject, expected: ApiObject): ApiObject {
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
function withRules(existing: ApiObject, expected: ApiObject): ApiObject {
  const areBothAggregated = [existing, expected].every(
    (role) => optionalRecord(role['aggregationRule']) !== undefined,
  );
  if (areBothAggregated) return existing;
  const missing = missingRules(policyRules(existing['rules']), policyRules(expected['rules']));
  if (missing.length === 0) return existing;
  return { ...existing, rules: [...records(existing['rules']), ...missing.map(ruleAsJson)] };
}

function withAggregation(existing: ApiObject, expected: ApiObject): ApiObject {
  const wanted = optionalRecord(expected['aggregationRule']);
  const found = optionalRecord(existing['aggregationRule']);
  if (wanted === undefined) {
    const { aggregationRule: _unexpected, ...rest } = existing;
    return found === undefined ? existing : rest;
  }
  const selectors = records(found?.['clusterRoleSelectors']);
  const missing = records(wanted['clusterRoleSelectors']).filter(
    (selector) => !selectors.some((each) => deepEqual(each, selector)),
  );
  if (missing.length === 0) return existing;
  return { ...existing, aggregationRule: { ...found, clusterRoleSelectors: [...selectors, ...missing] } };
}

function isSameSubject(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  return ['kind', 'apiGroup', 'name', 'namespace'].every((field) => (a[field] ?? '') === (b[field] ?? ''));
}
