import { SERVICE_ACCOUNT } from '../names';

/** Returns the user name of a service account, which is the subject of its tokens. */
export function accountUserName(namespace: string, name: string): string {
  return `${SERVICE_ACCOUNT.userPrefix}${namespace}:${name}`;
}

/** Returns the groups that every service account of the namespace is a member of. */
export function accountGroups(namespace: string): readonly string[] {
  return [SERVICE_ACCOUNT.group, `${SERVICE_ACCOUNT.groupPrefix}${namespace}`];
}
