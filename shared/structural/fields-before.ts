import type { JsonObject } from '../object/clone';
import { setOwn } from '../object/clone';

/** A copy of an object up to the field `end`, or of all fields: what a walk begins with once it has found the first field that changes. */
export function fieldsBefore(source: JsonObject, end?: string): JsonObject {
  const target: JsonObject = {};
  for (const key of Object.keys(source)) {
    if (key === end) break;
    setOwn(target, key, source[key]);
  }
  return target;
}
