import type { ApiObject } from '../../../shared/object/object';
import { decodeObject } from '../../../shared/schema/decode';
import type { Endpoint } from '../../engine/registry/resource';

/** Decodes and defaults an object of the server in the same way as an object of a client. */
export function ownObject({ row, apiVersion, type, applyDefaults }: Endpoint, object: ApiObject): ApiObject {
  const { object: decoded } = decodeObject(type, { ...object, kind: row.kind, apiVersion });
  return applyDefaults?.(decoded) ?? decoded;
}
