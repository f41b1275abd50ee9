import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';

/**
 * Whether a write changes nothing but owner references and finalizers, as the garbage collector does before
 * a deletion. A user who may update and delete an object may do that, whatever other rules forbid.
 */
export function changesOnlyLifetime(next: ApiObject, previous: ApiObject): boolean {
  return deepEqual(withoutLifetime(next), withoutLifetime(previous));
}

function withoutLifetime(object: ApiObject): object {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...content } = object;
  const {
    ownerReferences: _owners,
    finalizers: _finalizers,
    managedFields: _managers,
    selfLink: _link,
    ...kept
  } = metadata;
  return { ...withoutEmpty(content), metadata: withoutEmpty(kept) };
}

/** An absent field and an empty one are equal; a label with an empty value is present. */
function withoutEmpty(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
