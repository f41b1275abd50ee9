import { GROUP, NAMESPACE } from '../../shared/names';
import { StatusError } from '../../shared/errors/status-error';
import type { Stage } from '../engine/request/exchange';
import type { RequestInfo } from '../engine/request/request-info';
import { READ_VERBS } from '../engine/handlers/target';
import type { StorageVersions } from '../kubernetes/bootstrap/storage-versions';

/**
 * Rejects writes to a resource until the replica has registered its storage version, because a storage migration must know every version
 * that may be written. Source: WithStorageVersionPrecondition of v1.21.
 */
export function createStorageVersionStage({ pending }: Pick<StorageVersions, 'pending'>): Stage {
  return (exchange, next) => {
    const { info } = exchange;
    if (!info.isResourceRequest || READ_VERBS.has(info.verb) || isNeededFirst(info)) return next();
    const name = info.apiGroup === '' ? info.resource : `${info.resource}.${info.apiGroup}`;
    const why = pending(name);
    if (why === undefined) return next();
    const { lastError = '<nil>' } = why;
    const text = `wait for storage version registration to complete for resource: ${name}, last seen error: ${lastError}`;
    return Promise.reject(new StatusError('ServiceUnavailable', text));
  };
}

/** Exempts the StorageVersions themselves, and the identity leases of replicas. */
function isNeededFirst({ apiGroup, resource, namespace }: RequestInfo): boolean {
  if (apiGroup === GROUP.apiserverinternal) return resource === 'storageversions';
  return apiGroup === GROUP.coordination && resource === 'leases' && namespace === NAMESPACE.system;
}
