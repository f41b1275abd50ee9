import type { AccessRules, RuleLister } from '../request/access';
import { joinProblems } from '../../../shared/errors/field-error';

export const NO_RULES: AccessRules = { resourceRules: [], nonResourceRules: [], incomplete: false };

/** Concatenates the rules of all listers. */
export function allRulesOf(listers: readonly RuleLister[]): RuleLister {
  return async (user, namespace, signal) => {
    const lists = await Promise.all(listers.map(async (lister) => lister(user, namespace, signal)));
    const errors = lists.flatMap(({ evaluationError }) => evaluationError ?? []);
    return {
      resourceRules: lists.flatMap(({ resourceRules }) => resourceRules),
      nonResourceRules: lists.flatMap(({ nonResourceRules }) => nonResourceRules),
      incomplete: lists.some(({ incomplete }) => incomplete),
      ...(errors.length === 0 ? {} : { evaluationError: joinProblems(errors) }),
    };
  };
}
