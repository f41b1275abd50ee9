import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported } from '../../../shared/errors/field-error';
import type { Json } from './accessors';
import { optionalRecord, record, records, text } from './accessors';
import { validateListAndMapTypes } from './crd-list-types';
import { validateStructure } from './crd-structure';

const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];
/** The types of OpenAPI. */
export const SCHEMA_TYPES: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const ROOT_WITH_STATUS = new Set([
  'description',
  'type',
  'properties',
  'required',
  'x-kubernetes-preserve-unknown-fields',
  'title',
  'example',
  'externalDocs',
  'default',
]);

interface SchemaDemands {
  /** It must be structural. */
  readonly structure: boolean;
  /** Its types must be those of OpenAPI. */
  readonly types: boolean;
  /** It may have defaults. */
  readonly defaults: boolean;
}

/**
 * The schema of a custom resource: first the parts of OpenAPI that are allowed, then, if those are good and it is asked for, that it is structural: every
 * field has a type, and says in one place what it looks like.
 */
export function validateSchema(
  schema: Json,
  path: string,
  { hasStatus, demands }: { readonly hasStatus: boolean; readonly demands: SchemaDemands },
): FieldError[] {
  const wrong = [
    ...(schema['nullable'] === true
      ? [forbiddenField(`${path}.nullable`, 'nullable cannot be true at the root')]
      : []),
    ...(hasStatus && Object.keys(schema).some((field) => !ROOT_WITH_STATUS.has(field))
      ? [invalid(path, schema, 'only allows a few fields at the root if the status subresource is enabled')]
      : []),
    ...allowedParts(schema, path, demands),
  ];
  return wrong.length > 0 || !demands.structure ? wrong : validateStructure(schema, path);
}

function allowedParts(schema: Json, path: string, demands: SchemaDemands): FieldError[] {
  return [
    ...UNSUPPORTED.filter((field) => isGiven(schema[field])).map((field) =>
      forbiddenField(`${path}.${field}`, `${field} is not supported`),
    ),
    ...ownParts(schema, path, demands),
    ...validateListAndMapTypes(schema, path),
    ...childrenOf(schema, path).flatMap(([child, at]) => allowedParts(child, at, demands)),
  ];
}

function isGiven(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null;
}

function ownParts(schema: Json, path: string, { types, defaults }: SchemaDemands): FieldError[] {
  const type = text(schema['type']);
  const pattern = text(schema['pattern']);
  const more = schema['additionalProperties'];
  const hasProperties = Object.keys(record(schema['properties'])).length > 0;
  return [
    ...(!types || type === '' || type === 'null' || SCHEMA_TYPES.includes(type)
      ? []
      : [notSupported(`${path}.type`, type, SCHEMA_TYPES)]),
    ...(defaults || schema['default'] === undefined || schema['default'] === null
      ? []
      : [forbiddenField(`${path}.default`, 'must not be set')]),
    ...(type === 'null' ? [forbiddenField(`${path}.type`, 'type cannot be set to null, use nullable')] : []),
    ...(Array.isArray(schema['items'])
      ? [forbiddenField(`${path}.items`, 'items must be a schema object and not an array')]
      : []),
    ...(pattern === '' || compiles(pattern)
      ? []
      : [invalid(`${path}.pattern`, pattern, 'must be a valid regular expression')]),
    ...(schema['uniqueItems'] === true
      ? [forbiddenField(`${path}.uniqueItems`, 'uniqueItems cannot be set to true')]
      : []),
    ...(hasProperties && more !== undefined && more !== null && more !== true
      ? [
          forbiddenField(
            `${path}.additionalProperties`,
            'additionalProperties and properties are mutual exclusive',
          ),
        ]
      : []),
    ...(schema['x-kubernetes-preserve-unknown-fields'] === false
      ? [invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined')]
      : []),
  ];
}

/** Flags at the beginning are spelled otherwise here, and named groups begin otherwise. */
function compiles(pattern: string): boolean {
  const own = pattern.replace(/^\(\?[imsU]+\)/, '').replaceAll('(?P<', '(?<');
  try {
    return new RegExp(own) instanceof RegExp;
  } catch {
    return false;
  }
}

const MAPS = ['properties', 'patternProperties', 'definitions', 'dependencies'];
const LISTS = ['allOf', 'anyOf', 'oneOf'];
const SINGLE = ['additionalProperties', 'additionalItems', 'items', 'not'];

/** The schemas directly inside this one, with their paths. */
export function childrenOf(schema: Json, path: string): (readonly [Json, string])[] {
  return [
    ...MAPS.flatMap((field) =>
      Object.entries(record(schema[field])).map(
        ([name, child]) => [record(child), `${path}.${field}[${name}]`] as const,
      ),
    ),
    ...LISTS.flatMap((field) =>
      records(schema[field]).map((child, index) => [child, `${path}.${field}[${String(index)}]`] as const),
    ),
    ...SINGLE.flatMap((field) => {
      const child = optionalRecord(schema[field]);
      return child === undefined ? [] : [[child, `${path}.${field}`] as const];
    }),
  ];
}
