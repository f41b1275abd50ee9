import type { JsonObject } from '../../../shared/object/clone';
import { getOwn, isJsonObject } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import type { Int64 } from '../../../shared/object/values';
import { goPlain } from '../../../shared/structural/go-text';

/** The value at a field path such as `.spec.replicas`, or the reason why it has a wrong type. */
export type Found<T> =
  { readonly ok: true; readonly value: T | undefined } | { readonly ok: false; readonly problem: string };

/** A number with a fraction part is not an integer, even if the fraction is zero. */
export function integerAt(object: ApiObject, path: string): Found<Int64> {
  const found = valueAt(object, path);
  if (!found.ok || found.value === undefined) return { ...found, value: undefined } as Found<Int64>;
  const { value } = found;
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))) {
    return { ok: true, value };
  }
  return wrongType(path, value, 'int64');
}

export function textAt(object: ApiObject, path: string): Found<string> {
  const found = valueAt(object, path);
  if (!found.ok || found.value === undefined) return { ...found, value: undefined } as Found<string>;
  const { value } = found;
  return typeof value === 'string' ? { ok: true, value } : wrongType(path, value, 'string');
}

/** Returns a copy of the object with the value at the path. Values on the path that are not objects are replaced. */
export function withValueAt(object: ApiObject, path: string, value: unknown): ApiObject {
  return placed(object, namesOf(path), value) as unknown as ApiObject;
}

function placed(object: JsonObject, [name, ...rest]: readonly string[], value: unknown): JsonObject {
  if (name === undefined) return object;
  if (rest.length === 0) return { ...object, [name]: value };
  const inner = getOwn(object, name);
  return { ...object, [name]: placed(isJsonObject(inner) ? inner : {}, rest, value) };
}

function valueAt(object: ApiObject, path: string): Found<unknown> {
  let value: unknown = object;
  const passed: string[] = [];
  for (const name of namesOf(path)) {
    passed.push(name);
    // A null parent counts as an absent value.
    if (value === null) return { ok: true, value: undefined };
    // As upstream, the error names the path of the parent.
    if (!isJsonObject(value)) return wrongType(`.${passed.join('.')}`, value, 'map[string]interface{}');
    value = getOwn(value, name);
    if (value === undefined) return { ok: true, value: undefined };
  }
  return { ok: true, value };
}

/** Returns the names of the fields on a path, from the outermost. */
export function namesOf(path: string): readonly string[] {
  return path.replace(/^\./, '').split('.');
}

/** Uses the message of upstream's accessors of unstructured objects. */
function wrongType(path: string, value: unknown, expected: string): Found<never> {
  return {
    ok: false,
    problem: `${path} accessor error: ${goPlain(value)} is of the type ${typeOf(value)}, expected ${expected}`,
  };
}

function typeOf(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return typeof value === 'bigint' || Number.isInteger(value) ? 'int64' : 'float64';
}
