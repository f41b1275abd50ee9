import type { JsonObject } from '../object/clone';
import { setOwn } from '../object/clone';

/**
 * Copies the fields of an object before the field `end`, or all of them. A walk starts its copy with it at the
 * first field that changes.
 */
export function fieldsBefore(source: JsonObject, end?: string): JsonObject {
  const target: JsonObject = {};
  for (const key of Object.keys(source)) {
    if (key === end) break;
    setOwn(target, key, source[key]);
  }
  return target;
}
