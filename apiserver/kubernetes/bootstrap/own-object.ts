import type { ApiObject } from '../../../shared/object/object';
import { decodeObject } from '../../../shared/schema/decode';
import type { Endpoint } from '../../engine/registry/resource';

/** An object of the server's own making in the form in which those of clients come to be: decoded, with its defaults. */
export function ownObject({ row, apiVersion, type, applyDefaults }: Endpoint, object: ApiObject): ApiObject {
  const { object: decoded } = decodeObject(type, { ...object, kind: row.kind, apiVersion });
  return applyDefaults?.(decoded) ?? decoded;
}
