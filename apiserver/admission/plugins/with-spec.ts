import type { ApiObject } from '../../../shared/object/object';
import type { Json } from '../../../shared/object/accessors';
import { record } from '../../../shared/object/accessors';

/** The spec of an object; an empty one where it has none. */
export function specOf(object: ApiObject | undefined): Json {
  return record(object?.['spec']);
}

/** The object with these fields of its spec replaced. */
export function withSpec(object: ApiObject, fields: Json): ApiObject {
  return { ...object, spec: { ...specOf(object), ...fields } };
}
