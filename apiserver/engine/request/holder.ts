import { fromNeutral, NAMESPACE, SERVICE_ACCOUNT, USER, USER_GROUP } from '../../../shared/names';
import type { RequestInfo } from './request-info';
import type { UserInfo } from './exchange';

/**
 * Returns the key under which bounds count a user. All service accounts of a namespace are one holder: a tenant can
 * create any number of accounts, and would multiply its share.
 */
export function holderOf({ name }: Pick<UserInfo, 'name'>): string {
  if (!name.startsWith(SERVICE_ACCOUNT.userPrefix)) return name;
  const end = name.indexOf(':', SERVICE_ACCOUNT.userPrefix.length);
  // A user name cannot end with a colon and be a service account, so it is no other holder.
  return end < 0 ? name : name.slice(0, end + 1);
}

const SYSTEM_USERS: ReadonlySet<string> = new Set([
  USER.apiServer,
  USER.controllerManager,
  fromNeutral('system:scheduler'),
]);
const SYSTEM_HOLDER = `${SERVICE_ACCOUNT.userPrefix}${NAMESPACE.system}:`;

/**
 * Returns whether bounds that users share never refuse the user: superusers, who must be able to stop what fills
 * them, and the control plane itself, on which all tenants depend.
 */
export function isSystemUser(user: Pick<UserInfo, 'name' | 'groups'>): boolean {
  return (
    user.groups.includes(USER_GROUP.masters) ||
    SYSTEM_USERS.has(user.name) ||
    user.name.startsWith(SYSTEM_HOLDER)
  );
}

/**
 * Returns whether shared bounds never refuse the request for any user: requests for one Lease, which keep leaders
 * and nodes alive, and health checks, on which restarts depend. Both are small.
 */
export function isVital({ isResourceRequest, resource, name, path }: RequestInfo): boolean {
  return isResourceRequest ? resource === 'leases' && name !== '' : HEALTH_PATH.test(path);
}

const HEALTH_PATH = /^\/(?:healthz|livez|readyz)(?:\/|$)/u;
