import { GROUP, NAMESPACE, USER, USER_GROUP } from '../../shared/names';
import { StatusError } from '../../shared/errors/status-error';
import type { UserInfo } from '../exchange/exchange';
import { createObject } from '../registry/create';
import type { StoreContext } from '../registry/object-store';
import type { Registry } from '../registry/registry';

/** The server's own identity for objects it makes by itself. */
export const API_SERVER_USER: UserInfo = {
  name: USER.apiServer,
  uid: '',
  groups: [USER_GROUP.masters, USER_GROUP.authenticated],
  extra: {},
};

const FIRST_NAMESPACES: readonly string[] = [
  NAMESPACE.default,
  NAMESPACE.system,
  NAMESPACE.public,
  NAMESPACE.nodeLease,
];

/** Creates the namespaces that every cluster has, where they are missing. Replicas that start together may all try. */
export async function createFirstNamespaces(
  store: StoreContext,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  const endpoint = registry.endpoint(GROUP.core, 'v1', 'namespaces');
  if (endpoint === undefined) throw new Error('namespaces are not served');
  for (const name of FIRST_NAMESPACES) {
    if (store.cache.resource(endpoint.stored.keyPrefix).get(name) !== undefined) continue;
    const request = { endpoint, namespace: '', name, subresource: '', user: API_SERVER_USER, dryRun: false };
    try {
      await createObject(store, request, { metadata: { name } }, signal);
    } catch (error) {
      if (!(error instanceof StatusError) || error.status.reason !== 'AlreadyExists') throw error;
    }
  }
}
