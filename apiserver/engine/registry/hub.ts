import type { Conversion } from '../../../shared/conversion/conversion';
import type { ApiObject } from '../../../shared/object/object';
import { badRequest } from '../../../shared/errors/status-error';
import { DecodeError, decodeJson, decodeObject } from '../../../shared/schema/decode';
import { encodeObject } from '../../../shared/schema/encode';
import { withStoredEmpties } from '../../../shared/schema/stored-empties';
import type { KindType } from '../../../shared/schema/types';
import { graftUnknownFields } from '../../../shared/schema/unknown-fields';
import { isStoredAs } from '../watch-cache/entry-layout';
import type { Endpoint, StoredResource } from './resource';

/**
 * Converts an object of the endpoint's version to the stored version, in canonical form. Throws BadRequest
 * if annotations hold, as text, fields of the stored version, and the text is not valid for them.
 */
export function toHub(endpoint: Endpoint, object: ApiObject): ApiObject {
  const { stored, conversion, row } = endpoint;
  if (endpoint.apiVersion === stored.apiVersion)
    return withStoredEmpties(stored.type, withoutLeftOut(stored, object));
  const { kind, apiVersion } = stored;
  if (conversion === undefined) return { ...withStoredEmpties(endpoint.type, object), kind, apiVersion };
  try {
    return canonical(stored.type, { ...conversion.toHub(object), kind, apiVersion });
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(
      `${row.kind} in version ${JSON.stringify(row.version)} cannot be handled as a ${row.kind}: ${error.message}`,
      error,
    );
  }
}

/** The object without the fields that its kind does not store; the same object if there are none. */
export function withoutLeftOut({ strategy }: Pick<StoredResource, 'strategy'>, object: ApiObject): ApiObject {
  return strategy.dropsUnstorable === undefined ? object : strategy.dropsUnstorable(object);
}

/** Converts a stored object to the endpoint's version, in canonical form. */
export function fromHub(endpoint: Endpoint, object: ApiObject): ApiObject {
  const { stored, conversion, row, apiVersion, type } = endpoint;
  const isHub = apiVersion === stored.apiVersion;
  if (isHub && (stored.custom === undefined || object.apiVersion === apiVersion)) return object;
  if (stored.custom !== undefined) return stored.custom.convert(object, apiVersion);
  const { kind } = row;
  if (conversion === undefined) return { ...object, kind, apiVersion };
  return canonical(type, { ...conversion.fromHub(object), kind, apiVersion });
}

function canonical(type: KindType, object: ApiObject): ApiObject {
  return decodeObject(type, object).object;
}

/**
 * The stored form in the hub version of an object that was stored in another version; the same bytes if it was not. `conversion` moves
 * fields that have other names there. Fields that neither version of this server knows are kept (ADR 64).
 */
export function movedToHub(
  { kind, apiVersion, type }: Pick<StoredResource, 'kind' | 'apiVersion' | 'type'>,
  plain: Buffer,
  conversion: Pick<Conversion, 'toHub'>,
): Buffer {
  // Nearly every object: the caller parses it.
  if (isStoredAs(plain, { kind, apiVersion })) return plain;
  const object = decodeJson(plain) as ApiObject;
  if (object.apiVersion === apiVersion) return plain;
  const moved = { ...conversion.toHub(object), kind, apiVersion };
  return encodeObject(graftUnknownFields(type, decodeObject(type, moved).object, moved).object);
}
