import { applyPatch } from 'fast-json-patch';
import type { Operation } from 'fast-json-patch';
import { deepEqual, getOwn, isJsonObject, setOwn } from '../../../../shared/object/clone';
import type { JsonObject } from '../../../../shared/object/clone';
import { stringifyExact } from '../../../../shared/object/exact-text';
import { applyJsonPatch } from '../../../../shared/patch/json-patch';
import { applyMergePatch } from '../../../../shared/patch/merge-patch';
import { PatchError } from '../../../../shared/patch/patch-error';
import { applyStrategicPatch } from '../../../../shared/patch/strategic';
import { DecodeError, decodeJson, decodeObject } from '../../../../shared/schema/decode';
import { encodeObject } from '../../../../shared/schema/encode';
import { messageType } from '../../../../shared/schema/types';
import { mutateBytes } from '../mutators/mutate-bytes';
import { mutateJson } from '../mutators/mutate-json';
import { asNumbers, frozen, holds, refusable } from '../refusable';
import type { Target } from '../target';

const POINTERS = [
  '/',
  '/a',
  '/a/0',
  '/a/-',
  '/a/-1',
  '/a~1b',
  '/a~0b',
  '',
  '/__proto__/x',
  '/constructor',
  '/a/1e0',
  '/a/00',
];
const OPERATIONS = ['add', 'remove', 'replace', 'move', 'copy', 'test'];
const DIRECTIVES = [
  '$patch',
  'delete',
  'replace',
  'merge',
  '$retainKeys',
  '$setElementOrder/containers',
  '$deleteFromPrimitiveList/finalizers',
  'name',
  'containers',
  'env',
  '__proto__',
];

/** Patch documents; the inputs are JSON objects with the fields `original` and `patch`. */
export const PATCH_TARGETS: readonly Target[] = [
  {
    name: 'json-patch',
    corpus: 'json-patch',
    words: [...POINTERS, ...OPERATIONS],
    mutators: [mutateJson, mutateJson, mutateBytes],
    runs: 2_000,
    open: () => ({ check: checkJsonPatch }),
  },
  {
    name: 'merge-patch',
    corpus: 'merge-patch',
    words: ['a', 'b', '__proto__'],
    mutators: [mutateJson],
    runs: 1_500,
    open: () => ({ check: checkMergePatch }),
  },
  {
    name: 'strategic-merge-patch',
    corpus: 'strategic-merge-patch',
    words: DIRECTIVES,
    mutators: [mutateJson],
    runs: 800,
    open: () => ({ check: checkStrategicPatch }),
  },
];

function casesIn(input: Buffer): { readonly original: unknown; readonly patch: unknown } | undefined {
  const value = refusable(() => decodeJson(input), DecodeError)?.value;
  if (!isJsonObject(value)) return undefined;
  return { original: frozen(value['original']), patch: frozen(value['patch']) };
}

function checkJsonPatch(input: Buffer): void {
  const given = casesIn(input);
  if (given === undefined) return;
  const { original, patch } = given;
  const own = refusable(() => applyJsonPatch(original, patch), PatchError);
  if (!Array.isArray(patch) || !isJsonObject(original) || !patch.every(isPlainOperation)) return;
  const text = stringifyExact([original, patch]);
  if (text.includes('__proto__')) return;
  // The reference implementation has no limit: every copy may double the document.
  if (patch.filter((operation) => getOwn(operation as JsonObject, 'op') === 'copy').length > COPIES_MAX)
    return;
  const reference = refusable(() => {
    const copies = JSON.parse(text) as [object, Operation[]];
    return applyPatch(copies[0], copies[1], true).newDocument;
  }, Error);
  if (reference !== undefined)
    holds(
      own !== undefined && deepEqual(asNumbers(own.value), asNumbers(reference.value)),
      'a patch that RFC 6902 allows gives its result',
      original,
      patch,
      own?.value,
      reference.value,
    );
}

const COPIES_MAX = 8;

/** None of the differences from the RFC that ADR 6 lists can show in it, nor what the reference takes for the member of an object. */
function isPlainOperation(operation: unknown): boolean {
  if (!isJsonObject(operation) || !OPERATIONS.some((each) => each === operation['op'])) return false;
  return [operation['path'], operation['from'] ?? '/'].every(
    (pointer) =>
      typeof pointer === 'string' &&
      /^(?:\/(?:[^~/]|~[01])*)+$/.test(pointer) &&
      !/\/(?:[+-]\d|\d{7})/.test(pointer) &&
      !pointer.split('/').some(isInherited),
  );
}

function isInherited(name: string): boolean {
  return name in Object.prototype || name in Array.prototype;
}

function checkMergePatch(input: Buffer): void {
  const given = casesIn(input);
  if (given === undefined) return;
  const { original, patch } = given;
  const own = refusable(() => applyMergePatch(original, patch), PatchError);
  if (own === undefined) return;
  holds(
    deepEqual(own.value, merged(original, patch)),
    'the result is that of RFC 7386',
    original,
    patch,
    own.value,
  );
  const twice = refusable(() => applyMergePatch(frozen(own.value), patch), PatchError);
  holds(
    twice !== undefined && deepEqual(twice.value, own.value),
    'a merge patch changes nothing the second time',
    own.value,
    patch,
  );
}

/** The pseudo-code of RFC 7386, with the nulls in lists dropped as in Kubernetes, as items and as fields. */
function merged(target: unknown, patch: unknown): unknown {
  if (Array.isArray(patch)) {
    return patch
      .filter((each: unknown) => each !== null)
      .map((each: unknown) => (isJsonObject(each) || Array.isArray(each) ? merged(undefined, each) : each));
  }
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    const before = Object.hasOwn(result, key) ? result[key] : undefined;
    if (value === null) delete result[key];
    else setOwn(result, key, merged(before, value));
  }
  return result;
}

const pod = messageType('core/v1.Pod');

function checkStrategicPatch(input: Buffer): void {
  const given = casesIn(input);
  if (given === undefined) return;
  const { original, patch } = given;
  const live = refusable(() => decodeObject(pod, original).object, DecodeError)?.value;
  if (live === undefined) return;
  const before = encodeObject(live);
  const own = refusable(() => applyStrategicPatch(pod, frozen(live), patch), PatchError);
  holds(encodeObject(live).equals(before), 'the object is not changed', before);
  if (own === undefined) return;
  const decoded = refusable(() => decodeObject(pod, own.value).object, DecodeError);
  if (decoded === undefined) return;
  const bytes = encodeObject(decoded.value);
  holds(
    encodeObject(decodeObject(pod, decodeJson(bytes)).object).equals(bytes),
    'the result is an object',
    bytes,
  );
}
