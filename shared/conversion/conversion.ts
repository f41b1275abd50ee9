import type { ApiObject } from '../object/object';

/**
 * Between one served version of a kind and the hub version in which it is stored. Both functions are pure and leave `kind` and
 * `apiVersion` alone; the result is to be read with the schema of the version it is in, which orders fields and fills in zeros.
 */
export interface Conversion {
  toHub(object: ApiObject): ApiObject;
  fromHub(object: ApiObject): ApiObject;
  /** An object may read otherwise once it was stored than it was sent, so that who owns its fields is told from what will be read. */
  readonly settles?: boolean;
}
