import { StatusError } from '../../shared/errors/status-error';
import type { ApiObject } from '../../shared/meta/object';
import type { UserInfo } from '../exchange/exchange';
import { USER, USER_GROUP } from '../../shared/names';
import { createObject } from '../registry/create';
import type { StoreContext } from '../registry/object-store';
import type { Endpoint } from '../registry/resource';
import { relativeKey } from '../registry/resource';

/** The server's own identity for objects it makes by itself. */
export const API_SERVER_USER: UserInfo = {
  name: USER.apiServer,
  uid: '',
  groups: [USER_GROUP.masters, USER_GROUP.authenticated],
  extra: {},
};

/** Creates an object of the endpoint's version unless there is one. Replicas that start together may all try. */
export async function createMissing(
  store: StoreContext,
  endpoint: Endpoint,
  object: ApiObject,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', namespace = '' } = object.metadata;
  const key = relativeKey(endpoint.stored, namespace, name);
  if (store.cache.resource(endpoint.stored.keyPrefix).get(key) !== undefined) return;
  const request = { endpoint, namespace, name, subresource: '', user: API_SERVER_USER, dryRun: false };
  const typed = { ...object, kind: endpoint.row.kind, apiVersion: endpoint.apiVersion };
  try {
    await createObject(store, request, endpoint.applyDefaults?.(typed) ?? typed, signal);
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.reason !== 'AlreadyExists') throw error;
  }
}
