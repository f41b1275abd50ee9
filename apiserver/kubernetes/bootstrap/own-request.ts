import { API_SERVER_MANAGER } from '../../../shared/names';
import type { ObjectMeta } from '../../../shared/object/object';
import { API_SERVER_USER } from '../../engine/registry/api-server-user';
import type { WriteRequest } from '../../engine/registry/write-request';
import type { Endpoint } from '../../engine/registry/resource';

/** Builds the server's own write request for one object; `manager` owns the changed fields. */
export function ownRequest(
  endpoint: Endpoint,
  { name = '', namespace = '' }: Pick<ObjectMeta, 'name' | 'namespace'>,
  manager = API_SERVER_MANAGER,
): WriteRequest {
  return { endpoint, namespace, name, subresource: '', user: API_SERVER_USER, dryRun: false, manager };
}
