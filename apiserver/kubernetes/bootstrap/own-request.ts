import { API_SERVER_MANAGER } from '../../../shared/names';
import type { ObjectMeta } from '../../../shared/object/object';
import { API_SERVER_USER } from '../../engine/registry/api-server-user';
import type { WriteRequest } from '../../engine/registry/write-request';
import type { Endpoint } from '../../engine/registry/resource';

/** A write of the server's own to one object; `manager` owns what it changes. */
export function ownRequest(
  endpoint: Endpoint,
  { name = '', namespace = '' }: Pick<ObjectMeta, 'name' | 'namespace'>,
  manager = API_SERVER_MANAGER,
): WriteRequest {
  return { endpoint, namespace, name, subresource: '', user: API_SERVER_USER, dryRun: false, manager };
}
