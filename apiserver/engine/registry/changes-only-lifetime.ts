import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';

/**
 * Whether a write changes nothing but what the garbage collector does before an object goes: its owners and its finalizers. Who may
 * write and delete an object may do that, whatever else is forbidden about it.
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

/** An absent field and an empty one say the same; a label without a value is there all the same. */
function withoutEmpty(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
