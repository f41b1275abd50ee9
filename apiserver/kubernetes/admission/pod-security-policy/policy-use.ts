import { accountUserName } from '../../../../shared/meta/account-user-name';
import { GROUP, SERVICE_ACCOUNT } from '../../../../shared/names';
import type { Pod } from '../../../../shared/api/types/core-v1';
import type { Authorizer } from '../../../engine/request/access';
import type { UserInfo } from '../../../engine/request/exchange';
import type { WriteOf } from '../plugin';

/** The current and the former group of policies: permissions in both count. */
const GROUPS = [GROUP.policy, GROUP.extensions];

/** Reports whether the pod's account or its author may use the policy of this name there. */
export type MayUse = (policy: string) => Promise<boolean>;

/** Caches the answer for each policy. */
export function useOfPolicies(attributes: WriteOf<Pod>, authorize: Authorizer, signal: AbortSignal): MayUse {
  const { namespace, user } = attributes.write;
  const { serviceAccountName: account = '' } = attributes.object?.spec ?? {};
  const users = [...(account === '' ? [] : [accountUser(namespace, account)]), user];
  const known = new Map<string, Promise<boolean>>();
  const ask = async (name: string): Promise<boolean> => {
    for (const asked of users) {
      for (const apiGroup of GROUPS) {
        const about = { ...USE, user: asked, apiGroup, namespace, name };
        if ((await authorize(about, signal)).decision === 'allow') return true;
      }
    }
    return false;
  };
  return async (name) => {
    const answer = known.get(name) ?? ask(name);
    known.set(name, answer);
    return answer;
  };
}

const USE = {
  verb: 'use',
  isResourceRequest: true,
  path: '',
  apiVersion: '*',
  resource: 'podsecuritypolicies',
  subresource: '',
} as const;

function accountUser(namespace: string, name: string): UserInfo {
  return {
    name: accountUserName(namespace, name),
    uid: '',
    groups: [SERVICE_ACCOUNT.group, `${SERVICE_ACCOUNT.groupPrefix}${namespace}`],
    extra: {},
  };
}
