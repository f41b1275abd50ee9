import type { JsonObject } from '../meta/clone';
import { getOwn, isJsonObject, setOwn } from '../meta/clone';
import { isDeeper, PATCH_DEPTH_MAX } from './depth';
import { PatchError } from './patch-error';

/**
 * Applies a JSON merge patch (RFC 7386) to a decoded object. Neither argument is changed; the result shares with them what the
 * patch left alone, so treat it as frozen. As in Kubernetes, nulls in objects inside a list of the patch are dropped too, and the
 * whole object cannot be replaced by something else. Throws PatchError.
 */
export function applyMergePatch(original: unknown, patch: unknown): JsonObject {
  if (!isJsonObject(original)) throw new PatchError('failed', 'a merge patch changes an object');
  if (Array.isArray(patch)) throw new PatchError('failed', 'a merge patch cannot turn an object into a list');
  if (!isJsonObject(patch))
    throw new PatchError('malformed', 'Invalid JSON Patch: a merge patch is an object');
  if (isDeeper(patch, PATCH_DEPTH_MAX)) {
    throw new PatchError('malformed', `the patch nests deeper than ${String(PATCH_DEPTH_MAX)} levels`);
  }
  return merge(original, patch);
}

function merge(target: Readonly<JsonObject>, patch: Readonly<JsonObject>): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(target)) {
    const change = getOwn(patch, key);
    if (change === null) continue;
    setOwn(result, key, change === undefined ? target[key] : mergeValue(target[key], change));
  }
  for (const key of Object.keys(patch)) {
    const change = patch[key];
    if (change !== null && change !== undefined && !Object.hasOwn(target, key)) {
      setOwn(result, key, withoutNulls(change));
    }
  }
  return result;
}

function mergeValue(target: unknown, change: unknown): unknown {
  return isJsonObject(target) && isJsonObject(change) ? merge(target, change) : withoutNulls(change);
}

/** What a patch makes where nothing was: its nulls delete nothing and are gone. A null that is an item of a list stays. */
function withoutNulls(change: unknown): unknown {
  if (Array.isArray(change)) return change.map(withoutNulls);
  return isJsonObject(change) ? merge({}, change) : change;
}
