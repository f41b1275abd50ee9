import type { ApiObject } from '../../../../shared/object/object';

/** Returns the object with these fields of its spec replaced. */
export function withSpec<T extends ApiObject & { readonly spec: object }>(
  object: T,
  fields: Partial<T['spec']>,
): T {
  return { ...object, spec: { ...object.spec, ...fields } };
}
