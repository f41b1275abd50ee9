import { SERVICE_ACCOUNT } from '../names';

/** The user that a service account is: what its tokens have as their subject. */
export function accountUserName(namespace: string, name: string): string {
  return `${SERVICE_ACCOUNT.userPrefix}${namespace}:${name}`;
}
