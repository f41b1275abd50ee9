import { accountUserName } from '../../../../shared/meta/account-user-name';
import { SERVICE_ACCOUNT } from '../../../../shared/names';
import type { UserInfo } from '../../../engine/request/exchange';

/** An object that a token names. */
export interface Reference {
  readonly name: string;
  readonly uid: string;
}

/** A service account as a user. A pod is told in the extra, so that authorizers and audit know whose token it is. */
export function accountUser(namespace: string, account: Reference, pod?: Reference): UserInfo {
  return {
    name: accountUserName(namespace, account.name),
    uid: account.uid,
    groups: accountGroups(namespace),
    extra:
      pod === undefined ? {} : { [SERVICE_ACCOUNT.podName]: [pod.name], [SERVICE_ACCOUNT.podUid]: [pod.uid] },
  };
}

/** The groups of all service accounts of a namespace. */
export function accountGroups(namespace: string): readonly string[] {
  return [SERVICE_ACCOUNT.group, `${SERVICE_ACCOUNT.groupPrefix}${namespace}`];
}
