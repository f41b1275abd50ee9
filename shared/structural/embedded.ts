import type { FieldError } from '../errors/field-error';
import type { JsonObject } from '../object/clone';
import { deepEqual, isJsonObject, setOwn } from '../object/clone';
import { dns1035LabelProblems } from '../meta/dns-names';
import { pathSegmentName } from '../meta/name-rules';
import type { ObjectMeta } from '../object/object';
import { validateObjectMeta } from '../meta/validate-metadata';
import { decodeObject, DecodeError } from '../schema/decode';
import { messageType } from '../schema/types';
import { goError, PROBLEMS_MAX, requiredError } from './outcome';
import type { StructuralSchema } from './structural-schema';

export interface Coerced {
  /** The same object where nothing had to change. */
  readonly object: JsonObject;
  /** The first value that could not be coerced; the object is then refused. Empty with `drop`. */
  readonly errors: readonly FieldError[];
}

/**
 * Coerces `apiVersion`, `kind` and `metadata` of all embedded resources (not of the object itself), and drops
 * unknown fields of metadata. With `drop`, as for stored objects, values of the wrong type are dropped.
 * Without it, as for requests, they are errors.
 */
export function coerceEmbedded(
  schema: StructuralSchema,
  object: JsonObject,
  { drop }: { readonly drop: boolean },
): Coerced {
  const { value, errors } = coerceEmbeddedIn(schema, object, { drop });
  return { object: value as JsonObject, errors };
}

/** Coerces the embedded resources of any value, such as the default of a field. */
export function coerceEmbeddedIn(
  schema: StructuralSchema,
  value: unknown,
  { drop }: { readonly drop: boolean },
): { readonly value: unknown; readonly errors: readonly FieldError[] } {
  if (!schema.hasEmbedded) return { value, errors: [] };
  try {
    const coerced = mapValue(schema, value, '', (resource, path) => coerceResource(resource, path, drop));
    return { value: coerced, errors: [] };
  } catch (error) {
    if (error instanceof Refusal) return { value, errors: [error.field] };
    throw error;
  }
}

/** Validates `apiVersion`, `kind` and `metadata` of all embedded resources. */
export function validateEmbedded(schema: StructuralSchema, object: unknown): readonly FieldError[] {
  if (!schema.hasEmbedded) return [];
  const errors: FieldError[] = [];
  mapValue(schema, object, '', (resource, path) => {
    if (errors.length < PROBLEMS_MAX) errors.push(...validateResource(resource, path));
    return resource;
  });
  return errors;
}

/**
 * Returns the problems of the embedded resources of any value: the coercion error, or else the validation
 * errors.
 */
export function embeddedProblems(schema: StructuralSchema, value: unknown): readonly FieldError[] {
  const { errors } = coerceEmbeddedIn(schema, value, { drop: false });
  return errors.length > 0 ? errors : validateEmbedded(schema, value);
}

/** Ends a walk with a field error. */
class Refusal extends Error {
  readonly field: FieldError;

  constructor(field: FieldError) {
    super(field.message);
    this.field = field;
  }
}

type MapResource = (resource: JsonObject, path: string) => JsonObject;

/** Replaces the embedded resources in a value, outer ones first. Returns the same value where none changed. */
function mapValue(
  schema: StructuralSchema | undefined,
  value: unknown,
  path: string,
  map: MapResource,
): unknown {
  if (schema?.hasEmbedded !== true || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    let changes = 0;
    const mapped = value.map((each: unknown, index) => {
      const result = mapValue(schema.items, each, `${path}[${String(index)}]`, map);
      if (result !== each) changes += 1;
      return result;
    });
    return changes === 0 ? value : mapped;
  }
  const source = value as JsonObject;
  const resource = schema.isEmbedded ? map(source, path) : source;
  let target = resource === source ? undefined : resource;
  for (const key of Object.keys(resource)) {
    const declared = schema.properties.get(key);
    const more = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
    const at = declared === undefined ? `${path}[${key}]` : child(path, key);
    const mapped = mapValue(declared ?? more, resource[key], at, map);
    if (mapped === resource[key]) continue;
    target ??= { ...resource };
    setOwn(target, key, mapped);
  }
  return target ?? source;
}

function child(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

const TEXT_FIELDS = ['apiVersion', 'kind'] as const;

function coerceResource(resource: JsonObject, path: string, drop: boolean): JsonObject {
  const target: JsonObject = { ...resource };
  let isSame = true;
  for (const name of TEXT_FIELDS) {
    const value = resource[name];
    if (value === undefined || typeof value === 'string') continue;
    if (!drop) throw new Refusal(goError('FieldValueInvalid', child(path, name), value, 'must be a string'));
    Reflect.deleteProperty(target, name);
    isSame = false;
  }
  if (Object.hasOwn(resource, 'metadata')) {
    const given = resource['metadata'];
    const metadata = coerceMetadata(given, drop);
    if (metadata instanceof DecodeError) {
      if (!drop)
        throw new Refusal(goError('FieldValueInvalid', child(path, 'metadata'), given, metadata.message));
    } else if (metadata !== given) {
      target['metadata'] = metadata;
      isSame = false;
    }
  }
  return isSame ? resource : target;
}

const OBJECT_META = 'meta/v1.ObjectMeta';

/**
 * Returns the metadata in canonical form, with `drop` without fields of the wrong type. Returns an error where
 * that is impossible.
 */
function coerceMetadata(given: unknown, drop: boolean): JsonObject | DecodeError {
  const decoded = decodeMetadata(given);
  if (!(decoded instanceof DecodeError) || !drop || !isJsonObject(given)) return decoded;
  const good = Object.entries(given).filter(
    ([name, value]) => !(decodeMetadata({ [name]: value }) instanceof DecodeError),
  );
  return decodeMetadata(Object.fromEntries(good));
}

function decodeMetadata(given: unknown): JsonObject | DecodeError {
  if (given === null) return {};
  try {
    const { object } = decodeObject(messageType(OBJECT_META), given);
    const decoded = object as unknown as JsonObject;
    const { creationTimestamp, ...rest } = decoded;
    const written = creationTimestamp === null ? rest : decoded;
    return deepEqual(written, given) ? (given as JsonObject) : written;
  } catch (error) {
    if (error instanceof DecodeError) return error;
    throw error;
  }
}

function validateResource(resource: JsonObject, path: string): readonly FieldError[] {
  return [
    ...validateText(resource, child(path, 'apiVersion'), 'apiVersion', (version) =>
      version.split('/').length > 2 ? `unexpected GroupVersion string: ${version}` : '',
    ),
    ...validateText(resource, child(path, 'kind'), 'kind', (name) => {
      const problems = dns1035LabelProblems(name.toLowerCase());
      return problems.length === 0
        ? ''
        : `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    }),
    ...(Object.hasOwn(resource, 'metadata')
      ? validateMetadata(resource['metadata'], child(path, 'metadata'))
      : []),
  ];
}

const EMPTY = 'must not be empty';

function validateText(
  resource: JsonObject,
  field: string,
  name: 'apiVersion' | 'kind',
  problemOf: (text: string) => string,
): readonly FieldError[] {
  const value = resource[name];
  if (value === undefined) return [{ ...requiredError(field), message: `Required value: ${EMPTY}` }];
  if (value === '') return [goError('FieldValueInvalid', field, value, EMPTY)];
  if (typeof value !== 'string') return [goError('FieldValueInvalid', field, value, 'must be a string')];
  const problem = problemOf(value);
  return problem === '' ? [] : [goError('FieldValueInvalid', field, value, problem)];
}

/** Name to validate in place of an absent one, since an embedded resource need not have a name yet. */
const SOME_NAME = 'fakename';

function validateMetadata(given: unknown, path: string): readonly FieldError[] {
  const decoded = decodeMetadata(given);
  if (decoded instanceof DecodeError) return [goError('FieldValueInvalid', path, given, decoded.message)];
  const meta = decoded as ObjectMeta;
  const named = meta.name === undefined || meta.name === '' ? { ...meta, name: SOME_NAME } : meta;
  return validateObjectMeta(named, {
    namespaced: (meta.namespace ?? '') !== '',
    validateName: pathSegmentName,
    path,
    freeFinalizers: true,
  });
}
