import type { StatusError } from '../../../shared/errors/status-error';
import { badRequest, notFound } from '../../../shared/errors/status-error';
import type { ApiObject } from '../../../shared/object/object';
import type { Target } from './target';
import type { Change } from '../registry/write-attempt';

/** Sets the namespace of the path in the object. Throws BadRequest if the object has another one. */
export function placeInNamespace(object: ApiObject, { endpoint, namespace }: Target): ApiObject {
  const given = object.metadata.namespace ?? '';
  if (!endpoint.row.namespaced) return object;
  if (given !== '' && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (given !== '') return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}

/**
 * Checks the name and namespace of an updated object, and sets the namespace. Throws BadRequest if the
 * object has another name or namespace than the path.
 */
export function checkIdentity(object: ApiObject, target: Target): ApiObject {
  refuseOther(object, target);
  return placeInNamespace(object, target);
}

/** Throws BadRequest if an updated object has another name or namespace than the path. */
export function refuseOther(object: ApiObject, { endpoint, namespace, name }: Target): void {
  const given = object.metadata.name ?? '';
  if (given === '') throw namelessObject(name);
  if (given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  }
  const givenNamespace = object.metadata.namespace ?? '';
  const asked = endpoint.stored.strategy.isNamespace === true ? name : namespace;
  if (asked !== '' && givenNamespace !== '' && givenNamespace !== asked) {
    throw badRequest(
      `the namespace of the object (${givenNamespace}) does not match the namespace on the request (${asked})`,
    );
  }
}

/** The error for an object without a name. */
export function namelessObject(name: string): StatusError {
  return badRequest(
    `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
  );
}

/**
 * The change of a patch that is malformed. Upstream reads the patch after the object, so NotFound comes
 * first.
 */
export function refusalOf({ endpoint, name }: Target, error: StatusError): Change {
  return (current) => {
    throw current === undefined ? notFound(endpoint.row, name) : error;
  };
}
