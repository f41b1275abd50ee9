import type { ApiObject } from '../object/object';

/**
 * Conversion between a served version of a kind and its hub version, which is stored. Both functions are pure
 * and leave `kind` and `apiVersion` alone. Decode the result with the schema of its version, which orders
 * fields and fills in zero values.
 */
export interface Conversion {
  toHub(object: ApiObject): ApiObject;
  fromHub(object: ApiObject): ApiObject;
  /**
   * True when an object may read differently once it is stored, so that ownership is computed from the stored
   * form.
   */
  readonly settles?: boolean;
}
