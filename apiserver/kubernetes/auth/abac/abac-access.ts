import type { AccessControl, AccessQuestion, AccessResult } from '../../../engine/request/access';
import type { UserInfo } from '../../../engine/request/exchange';
import { urlPrefixOf } from '../rbac/policy-rule';
import type { AbacPolicy } from './policy-file';

const ALLOWED: AccessResult = { decision: 'allow', reason: '' };
const NO_OPINION: AccessResult = { decision: 'no-opinion', reason: 'No policy matched.' };

const READ_VERBS: readonly string[] = ['get', 'list', 'watch'];
const EVERY = '*';

/** Creates the ABAC authorizer, which allows what any policy allows. */
export function abacAccess(policies: readonly AbacPolicy[]): AccessControl {
  return {
    authorize: async (question) =>
      Promise.resolve(policies.some((policy) => allows(policy, question)) ? ALLOWED : NO_OPINION),
    rulesOf: async (user, namespace) => {
      const own = policies.filter((policy) => isOf(policy, user) && fits(policy.namespace, namespace));
      return Promise.resolve({
        resourceRules: own
          .filter(({ resource }) => resource !== '')
          .map((policy) => ({
            verbs: verbsOf(policy),
            apiGroups: [policy.apiGroup],
            resources: [policy.resource],
          })),
        nonResourceRules: own
          .filter(({ nonResourcePath }) => nonResourcePath !== '')
          .map((policy) => ({ verbs: verbsOf(policy), nonResourceURLs: [policy.nonResourcePath] })),
        incomplete: false,
      });
    },
  };
}

function allows(policy: AbacPolicy, question: AccessQuestion): boolean {
  const { user, verb, isResourceRequest, namespace, resource, apiGroup, path } = question;
  if (!isOf(policy, user) || (policy.readonly && !READ_VERBS.includes(verb))) return false;
  if (!isResourceRequest) return isForPath(policy.nonResourcePath, path);
  return (
    fits(policy.namespace, namespace) && fits(policy.resource, resource) && fits(policy.apiGroup, apiGroup)
  );
}

/** A policy with neither user nor group matches no user. */
function isOf({ user, group }: AbacPolicy, { name, groups }: UserInfo): boolean {
  if (user === '' && group === '') return false;
  return (user === '' || user === name) && (group === '' || groups.includes(group));
}

function fits(pattern: string, value: string): boolean {
  return pattern === EVERY || pattern === value;
}

function isForPath(pattern: string, path: string): boolean {
  const prefix = urlPrefixOf(pattern);
  return pattern === path || (prefix !== undefined && path.startsWith(prefix));
}

function verbsOf({ readonly }: AbacPolicy): readonly string[] {
  return readonly ? READ_VERBS : [EVERY];
}
