import type { Authorizer, RuleLister, AccessResult } from '../../../engine/request/access';
import type { UserInfo } from '../../../engine/request/exchange';
import { joinProblems } from '../../../../shared/errors/field-error';
import { describeBinding } from './binding';
import type { Decision, Policies } from './policies';
import { ruleAsJson } from './policy-rule';
import { notFoundError } from './role-errors';

/**
 * Creates the RBAC authorizer. A refusal is decided again after the cache was freshened, so that a new binding takes effect on every replica
 * with the next request.
 */
export function rbacAuthorizer(policies: Policies): Authorizer {
  return async (question, signal) => {
    await policies.whenReady(signal);
    const first = policies.decide(question);
    if (first.allowedBy !== undefined) return resultOf(first, question.user);
    const { generation } = policies;
    await policies.freshen(signal);
    await policies.whenReady(signal);
    const last = policies.generation === generation ? first : policies.decide(question);
    return resultOf(last, question.user);
  };
}

/** Lists the rules of a user. Missing roles are reported in `evaluationError`; the rest is complete. */
export function rbacRules(policies: Policies): RuleLister {
  return async (user, namespace, signal) => {
    await policies.freshen(signal);
    await policies.whenReady(signal);
    const { rules, missing } = policies.rulesOf(user, namespace);
    const ofResources = rules.filter(({ resources }) => resources.length > 0);
    const ofPaths = rules.filter(({ nonResourceURLs }) => nonResourceURLs.length > 0);
    return {
      resourceRules: ofResources.map((rule) => ruleAsJson({ ...rule, nonResourceURLs: [] })),
      nonResourceRules: ofPaths.map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      incomplete: false,
      ...(missing.length === 0
        ? {}
        : { evaluationError: joinProblems(missing.map((role) => notFoundError(role, 'singular'))) }),
    };
  };
}

function resultOf({ allowedBy, missing }: Decision, user: UserInfo): AccessResult {
  if (allowedBy !== undefined) {
    return { decision: 'allow', reason: `RBAC: allowed by ${describeBinding(allowedBy, user)}` };
  }
  const reason =
    missing.length === 0
      ? ''
      : `RBAC: ${joinProblems(missing.map((role) => notFoundError(role, 'singular')))}`;
  return { decision: 'no-opinion', reason };
}
