import { accountGroups, accountUserName } from '../../../../shared/meta/account-user-name';
import { SERVICE_ACCOUNT } from '../../../../shared/names';
import type { UserInfo } from '../../../engine/request/exchange';

/** An object that a token is bound to. */
export interface Reference {
  readonly name: string;
  readonly uid: string;
}

/**
 * Returns the user that a token of the service account authenticates as. A pod that the token is bound to is named in the extra, so that
 * authorizers and audit events can name it.
 */
export function accountUser(namespace: string, account: Reference, pod?: Reference): UserInfo {
  return {
    name: accountUserName(namespace, account.name),
    uid: account.uid,
    groups: accountGroups(namespace),
    extra:
      pod === undefined ? {} : { [SERVICE_ACCOUNT.podName]: [pod.name], [SERVICE_ACCOUNT.podUid]: [pod.uid] },
  };
}
