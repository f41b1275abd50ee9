import type { AccessRules, Authorizer } from '../exchange/access';
import type { UserInfo } from '../exchange/exchange';

const EVERY = ['*'] as const;

/**
 * Lists what authorizers allow that know no rules: they let somebody do everything or nothing, so that the question whether everything
 * is allowed tells all there is to tell.
 */
export async function rulesWithoutRules(
  authorizer: Authorizer,
  { user, namespace }: { readonly user: UserInfo; readonly namespace: string },
  signal: AbortSignal,
): Promise<AccessRules> {
  const anything = {
    user,
    verb: '*',
    apiGroup: '*',
    apiVersion: '*',
    namespace,
    resource: '*',
    subresource: '',
    name: '',
  };
  const resources = await authorizer({ ...anything, isResourceRequest: true, path: '' }, signal);
  const paths = await authorizer({ ...anything, isResourceRequest: false, path: '*' }, signal);
  return {
    resourceRules:
      resources.decision === 'allow' ? [{ verbs: EVERY, apiGroups: EVERY, resources: EVERY }] : [],
    nonResourceRules: paths.decision === 'allow' ? [{ verbs: EVERY, nonResourceURLs: EVERY }] : [],
    incomplete: false,
  };
}
