import { StatusError } from '../../../shared/errors/status-error';
import type { ApiObject } from '../../../shared/object/object';
import { createObject } from '../../engine/registry/create';
import type { WriteContext } from '../../engine/registry/write-context';
import type { Endpoint } from '../../engine/registry/resource';
import { relativeKey } from '../../engine/registry/resource';
import { ownObject } from './own-object';
import { ownRequest } from './own-request';

/** Creates an object of the endpoint's version unless it exists. Replicas may do so concurrently. */
export async function createMissing(
  store: WriteContext,
  endpoint: Endpoint,
  object: ApiObject,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', namespace = '' } = object.metadata;
  const key = relativeKey(endpoint.stored, namespace, name);
  if (store.cache.resource(endpoint.stored.keyPrefix).get(key) !== undefined) return;
  try {
    await createObject(store, ownRequest(endpoint, object.metadata), ownObject(endpoint, object), signal);
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.reason !== 'AlreadyExists') throw error;
  }
}
