import { fieldsOf, text } from '../../../../shared/object/accessors';
import { isJsonObject } from '../../../../shared/object/clone';
import type { ReadonlyJson } from '../../../../shared/object/json';
import type { ApiObject, ObjectMeta } from '../../../../shared/object/object';
import type { Unchecked } from '../../../../shared/object/values';
import { validateAnnotations, validateLabels } from '../../../../shared/meta/validate-labels';

/** The metadata fields that a conversion may change. */
const CHANGEABLE = ['labels', 'annotations'] as const;
type Changeable = (typeof CHANGEABLE)[number];

/** Prefixes of error messages. Upstream words them differently for one object and for several. */
export interface FaultWords {
  readonly object: string;
  readonly metadata: string;
}

/**
 * Merges the webhook's result into the original object. Only labels and annotations of its metadata count. Throws an Error with
 * upstream's message, prefixed by `words`, if it is not the same object in the wanted version.
 */
export function convertedObject(
  original: ApiObject,
  {
    value,
    apiVersion,
    words,
  }: { readonly value: unknown; readonly apiVersion: string; readonly words: FaultWords },
): ApiObject {
  const converted = isJsonObject(value) ? value : undefined;
  const fault = findFault(original, converted, apiVersion);
  if (converted === undefined || fault !== undefined) throw new Error(`${words.object}: ${fault ?? ''}`);
  const { metadata: given } = converted;
  if (!isJsonObject(given)) {
    const what = given === undefined ? 'missing metadata' : `invalid metadata of type ${goType(given)}`;
    throw new Error(`${words.metadata}: ${what} in converted object`);
  }
  const { labels: _labels, annotations: _annotations, ...kept } = original.metadata;
  const { labels, annotations } = fieldsOf<ObjectMeta>(given);
  const after = { labels, annotations };
  const changes = CHANGEABLE.map((field): [Changeable, Words | undefined] => [
    field,
    readChangeable(field, { before: original.metadata[field] ?? {}, after: after[field] }, words),
  ]);
  const changeable = Object.fromEntries(changes.filter(([, next]) => next !== undefined));
  return { ...converted, metadata: { ...kept, ...changeable } };
}

interface ConvertedFields {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: unknown;
}

/** Returns why the result is not the object in the wanted version; undefined if it is valid. */
function findFault(
  original: ApiObject,
  converted: ReadonlyJson | undefined,
  apiVersion: string,
): string | undefined {
  if (converted === undefined) return "Object 'Kind' is missing";
  const { apiVersion: givenVersion, kind: givenKind, metadata } = fieldsOf<ConvertedFields>(converted);
  const [version, kind] = [text(givenVersion), text(givenKind)];
  if (version !== apiVersion) return `invalid groupVersion (expected ${apiVersion}, received ${version})`;
  const { kind: expectedKind = '' } = original;
  if (kind !== expectedKind) return `invalid kind (expected ${expectedKind}, received ${kind})`;
  const received = identityOf(fieldsOf<ObjectMeta>(metadata));
  const [fault] = identityOf(original.metadata).flatMap(([name, value], index) => {
    const other = received[index]?.[1] ?? '';
    return value === other ? [] : [`must have the same ${name}: ${value} != ${other}`];
  });
  return fault;
}

function identityOf({
  name,
  namespace,
  uid,
}: Unchecked<Pick<ObjectMeta, 'name' | 'namespace' | 'uid'>>): readonly (readonly [string, string])[] {
  return [
    ['name', text(name)],
    ['namespace', text(namespace)],
    ['UID', text(uid)],
  ];
}

type Words = Readonly<Record<string, string>>;

/** Returns the labels or annotations of the webhook's result; undefined for none. Unchanged values are not validated again. */
function readChangeable(
  field: Changeable,
  { before, after }: { readonly before: Words; readonly after: unknown },
  { metadata: words }: FaultWords,
): Words | undefined {
  if (after === undefined || after === null) return undefined;
  if (!isJsonObject(after)) {
    throw new Error(`${words}: invalid metadata.${field} of type ${goType(after)} in converted object`);
  }
  for (const [key, value] of Object.entries(after)) {
    if (typeof value === 'string') continue;
    throw new Error(
      `${words}: metadata.${field}[${key}] must be a string, but is ${goType(value)} in converted object`,
    );
  }
  const next = after as Words;
  const keys = Object.keys(next);
  const isSame = keys.length === Object.keys(before).length && keys.every((key) => next[key] === before[key]);
  if (isSame) return next;
  const errors =
    field === 'labels'
      ? validateLabels(next, 'metadata.labels')
      : validateAnnotations(next, 'metadata.annotation');
  if (errors.length === 0) return next;
  const texts = errors.map((error) => `${error.field}: ${error.message}`);
  throw new Error(`${words}: ${texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`}`);
}

/** Returns the type name that Go's decoder reports for the value. */
function goType(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'number' || typeof value === 'bigint') {
    return Number.isInteger(Number(value)) ? 'int64' : 'float64';
  }
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'map[string]interface {}';
}
