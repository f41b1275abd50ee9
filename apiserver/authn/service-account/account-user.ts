import { SERVICE_ACCOUNT } from '../../../shared/names';
import type { UserInfo } from '../../exchange/exchange';

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
    groups: [SERVICE_ACCOUNT.group, `${SERVICE_ACCOUNT.groupPrefix}${namespace}`],
    extra:
      pod === undefined ? {} : { [SERVICE_ACCOUNT.podName]: [pod.name], [SERVICE_ACCOUNT.podUid]: [pod.uid] },
  };
}

export function accountUserName(namespace: string, name: string): string {
  return `${SERVICE_ACCOUNT.userPrefix}${namespace}:${name}`;
}
