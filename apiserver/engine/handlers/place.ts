import type { StatusError } from '../../../shared/errors/status-error';
import { badRequest } from '../../../shared/errors/status-error';
import type { ApiObject } from '../../../shared/object/object';
import type { Target } from './target';

/** The object as it belongs to the path: an absent namespace is the path's. Throws BadRequest when the two contradict. */
export function placeInNamespace(object: ApiObject, { endpoint, namespace }: Target): ApiObject {
  const given = object.metadata.namespace ?? '';
  if (!endpoint.row.namespaced) return object;
  if (given !== '' && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (given !== '') return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}

/** The object of an operation, which is carried out where the path says, whatever namespace the object names, as in v1.21. */
export function withNamespace(object: ApiObject, { endpoint, namespace }: Target): ApiObject {
  if (!endpoint.row.namespaced || (object.metadata.namespace ?? '') !== '') return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}

/** The object of an update as it belongs to the path. Throws BadRequest when it names another object than the path. */
export function checkIdentity(object: ApiObject, target: Target): ApiObject {
  refuseOther(object, target);
  return placeInNamespace(object, target);
}

/** Throws BadRequest when the object of an update names another object than the path. */
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

/** The refusal of an object that does not say its name, where the path says `name`. */
export function namelessObject(name: string): StatusError {
  return badRequest(
    `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
  );
}
