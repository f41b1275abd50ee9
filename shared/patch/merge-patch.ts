import type { JsonObject } from '../object/clone';
import { getOwn, isJsonObject, setOwn } from '../object/clone';
import { NumberText } from '../object/exact-text';
import { isDeeper, PATCH_DEPTH_MAX } from './patch-limits';
import { PatchError } from './patch-error';

/**
 * Applies a JSON merge patch (RFC 7396) to a decoded object. Neither argument is changed; the result shares
 * unchanged parts with them, so treat it as frozen. As in Kubernetes, nulls inside lists of the patch are
 * dropped too, and the patch must be an object. Throws PatchError: `malformed`, or `failed` for a list.
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

/** Merges a patch into an object; returns the target itself when nothing changes. */
function merge(target: Readonly<JsonObject>, patch: Readonly<JsonObject>): JsonObject {
  let result: JsonObject | undefined;
  let removes = false;
  for (const key of Object.keys(patch)) {
    const change = patch[key];
    if (change === undefined) continue;
    const isThere = Object.hasOwn(target, key);
    if (change === null) {
      removes ||= isThere;
      continue;
    }
    const merged = mergeValue(isThere ? target[key] : undefined, change);
    if (isThere && merged === target[key]) continue;
    result ??= { ...target };
    setOwn(result, key, merged);
  }
  return removes ? withoutRemoved(result ?? target, patch) : (result ?? target);
}

function withoutRemoved(merged: Readonly<JsonObject>, patch: Readonly<JsonObject>): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(merged)) {
    if (getOwn(patch, key) !== null) setOwn(result, key, merged[key]);
  }
  return result;
}

function mergeValue(target: unknown, change: unknown): unknown {
  if (change instanceof NumberText) return change;
  return isJsonObject(target) && isJsonObject(change) ? merge(target, change) : withoutNulls(change);
}

/** Returns the value of a patch for an absent member: without its nulls, including those in lists. */
function withoutNulls(change: unknown): unknown {
  if (Array.isArray(change)) return change.filter((item) => item !== null).map(withoutNulls);
  return isJsonObject(change) && !(change instanceof NumberText) ? merge({}, change) : change;
}
