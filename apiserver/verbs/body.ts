import { MEDIA_TYPE } from '../../shared/names';
import { badRequest } from '../../shared/errors/status-error';
import type { ApiObject } from '../../shared/meta/object';
import { DecodeError, decodeJson, decodeObject } from '../../shared/schema/decode';
import { negotiateBody } from '../encoding/negotiation';
import type { Exchange } from '../exchange/exchange';
import type { Endpoint } from '../registry/resource';

/**
 * The object in a request's body, checked against the endpoint's kind and version and brought into canonical form. Throws
 * BadRequest for malformed JSON, another kind or version, and fields of a wrong type.
 */
export async function readObject(exchange: Exchange, endpoint: Endpoint): Promise<ApiObject> {
  negotiateBody(exchange.headers['content-type'], [MEDIA_TYPE.json]);
  return decodeBody(await exchange.readBody(), endpoint);
}

export function decodeBody(bytes: Buffer, endpoint: Endpoint): ApiObject {
  return decodeValue(parseJson(bytes, endpoint.row.kind), endpoint);
}

function parseJson(bytes: Buffer, kind: string): unknown {
  try {
    return decodeJson(bytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${why}`,
      error,
    );
  }
}

/** The same for JSON that is already parsed: the result of a patch. */
export function decodeValue(value: unknown, endpoint: Endpoint): ApiObject {
  checkKind(value, endpoint);
  const { kind } = endpoint.row;
  try {
    const { object } = decodeObject(endpoint.type, value);
    return { ...object, kind, apiVersion: endpoint.apiVersion };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(
      `${kind} in version ${JSON.stringify(endpoint.row.version)} cannot be handled as a ${kind}: ${error.message}`,
      error,
    );
  }
}

/** An absent kind or apiVersion is taken to be the endpoint's. */
function checkKind(value: unknown, endpoint: Endpoint): void {
  const { kind, version } = endpoint.row;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: the body is no object`,
    );
  }
  const given = value as { readonly kind?: unknown; readonly apiVersion?: unknown };
  for (const name of ['kind', 'apiVersion'] as const) {
    if (given[name] === undefined || given[name] === null || typeof given[name] === 'string') continue;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; ${name} must be a string`,
    );
  }
  const givenKind = typeof given.kind === 'string' && given.kind !== '' ? given.kind : kind;
  const givenVersion =
    typeof given.apiVersion === 'string' && given.apiVersion !== '' ? given.apiVersion : endpoint.apiVersion;
  if (givenKind !== kind) {
    throw badRequest(
      `${givenKind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: the path serves ${kind}`,
    );
  }
  if (givenVersion !== endpoint.apiVersion) {
    throw badRequest(
      `the API version in the data (${givenVersion}) does not match the expected API version (${endpoint.apiVersion})`,
    );
  }
}
