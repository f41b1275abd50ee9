import type { JSONSchemaProps } from '../../../shared/api/types/apiextensions-v1';
import { describeField } from '../../../shared/api/descriptions';
import { defined } from '../../../shared/defined';
import { fieldsOf, fieldsOfEach, optionalRecord, record, text } from '../../../shared/object/accessors';
import type { Unchecked } from '../../../shared/object/values';
import { isSchema } from '../kinds/apiextensions/crd-schema-parts';
import { validateStructure } from '../kinds/apiextensions/crd-structure';
import type { JsonSchema, SchemaForm } from './definitions';
import { described, TYPE_META } from './definitions';
import { definitionName } from './names';

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
const EMBEDDED = 'x-kubernetes-embedded-resource';
const INT_OR_STRING = 'x-kubernetes-int-or-string';

/**
 * Returns the published schema of a custom resource: `schema.openAPIV3Schema` of its version with the fields of every object. In v2 it
 * omits what that version cannot express or its clients misinterpret. Source: the OpenAPI builder of apiextensions-apiserver, v1.21.
 */
export function customSchema(
  given: unknown,
  form: SchemaForm,
  options: { readonly preservesUnknown: boolean },
): JsonSchema {
  const schema = schemaIn(given);
  if (schema === undefined || !isStructural(schema)) return ANY_OBJECT;
  // With any declared field, clients of v2 would reject all others.
  if (form.version === 'v2' && (schema[PRESERVE] === true || options.preservesUnknown)) return ANY_OBJECT;
  const { properties, ...rest } = convert(schema, form);
  return { ...rest, properties: { ...record(properties), ...TYPE_META, metadata: metadataOf(form) } };
}

/** The JSON of the definition, whose values are unchecked. */
type Source = Unchecked<JSONSchemaProps>;

/** Returns undefined for a value that is not an object: absent, `true`, a list. */
function schemaIn(value: unknown): Source | undefined {
  return optionalRecord(value);
}

const ANY_OBJECT: JsonSchema = { type: 'object' };

/** Keywords that a structural schema cannot have, because evaluating the schema would require references. */
const UNSUPPORTED = [
  'id',
  '$schema',
  '$ref',
  'patternProperties',
  'dependencies',
  'additionalItems',
  'definitions',
] as const;

function isStructural(schema: Source): boolean {
  return isSchema(schema) && validateStructure(schema, '').length === 0 && isPlain(schema);
}

function isPlain(schema: Source): boolean {
  const { items, additionalProperties, properties } = schema;
  return (
    UNSUPPORTED.every((field) => isEmpty(schema[field])) &&
    !Array.isArray(items) &&
    [items, additionalProperties, ...Object.values(record(properties))].every((each) => {
      const child = schemaIn(each);
      return child === undefined || isPlain(child);
    })
  );
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === '';
}

function metadataOf({ reference }: SchemaForm): JsonSchema {
  return reference(definitionName('meta/v1.ObjectMeta'), described(describeField('core/v1.Pod', 'metadata')));
}

/** Fields that are copied unchanged unless they are empty. */
const PLAIN_FIELDS: ReadonlySet<string> = new Set<keyof JSONSchemaProps>([
  'title',
  'description',
  'format',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'enum',
  'maxProperties',
  'minProperties',
  PRESERVE,
  EMBEDDED,
  INT_OR_STRING,
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
]);

function plainFields(schema: Source): JsonSchema {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (PLAIN_FIELDS.has(name) && isPresent(value)) fields[name] = value;
  }
  return fields;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}

function convert(schema: Source, form: SchemaForm): Source {
  const converted = form.version === 'v2' ? toV2(schema, form) : toV3(schema, form);
  return withEmbedded(schema, converted, form);
}

/**
 * Clients of v2 reject undeclared fields if any is declared. A schema that preserves unknown fields or is
 * nullable therefore has neither type nor properties.
 */
function toV2(schema: Source, form: SchemaForm): JsonSchema {
  const isNullable = schema.nullable === true;
  const isFree = isNullable || schema[PRESERVE] === true;
  const items = isFree ? undefined : schemaIn(schema.items);
  const properties = isFree ? undefined : optionalRecord(schema.properties);
  const type = text(schema.type);
  const isTyped =
    !isNullable &&
    !(type === 'array' && items === undefined) &&
    !(type === 'object' && schema[PRESERVE] === true);
  return {
    ...plainFields(schema),
    ...(type !== '' && isTyped ? { type } : {}),
    ...structure({ ...schema, items, properties }, form),
    ...listField('required', requiredOf(schema, properties)),
  };
}

/** Nullable fields are not required. */
function requiredOf(schema: Source, properties: JsonSchema | undefined): readonly unknown[] {
  const required = listOf(schema.required);
  if (fieldsOf<JSONSchemaProps>(schema.additionalProperties).nullable === true) return [];
  return required.filter((name) => fieldsOf<JSONSchemaProps>(properties?.[String(name)]).nullable !== true);
}

function toV3(schema: Source, form: SchemaForm): JsonSchema {
  const { type, nullable, default: value } = schema;
  return {
    ...plainFields(schema),
    ...(text(type) === '' ? {} : { type }),
    ...(nullable === true ? { nullable } : {}),
    ...defined({ default: value }),
    ...structure(schema, form),
    ...listField('required', listOf(schema.required)),
    ...junctors(schema),
  };
}

function structure(schema: Source, form: SchemaForm): JsonSchema {
  const { additionalProperties } = schema;
  const items = schemaIn(schema.items);
  const properties = Object.entries(record(schema.properties));
  const more = schemaIn(additionalProperties);
  return {
    ...(items === undefined ? {} : { items: convert(items, form) }),
    ...(properties.length === 0
      ? {}
      : {
          properties: Object.fromEntries(
            properties.map(([name, each]) => [name, convert(fieldsOf<JSONSchemaProps>(each), form)]),
          ),
        }),
    ...(more === undefined ? {} : { additionalProperties: convert(more, form) }),
    ...(typeof additionalProperties === 'boolean' ? { additionalProperties } : {}),
  };
}

const NUMBER_OR_TEXT = [{ type: 'integer' }, { type: 'string' }];

/** An int-or-string schema also lists its alternatives in standard keywords. */
function junctors(schema: Source): JsonSchema {
  const anyOf = listOf(schema.anyOf);
  const allOf = listOf(schema.allOf);
  const isSpelled =
    schema[INT_OR_STRING] !== true ||
    isNumberOrText(anyOf) ||
    isNumberOrText(listOf(fieldsOf<JSONSchemaProps>(allOf[0]).anyOf));
  const isAside = anyOf.length > 0 && !isSpelled;
  return {
    ...listField('anyOf', anyOf.length === 0 && !isSpelled ? NUMBER_OR_TEXT : anyOf),
    ...listField('allOf', isAside ? [{ anyOf: NUMBER_OR_TEXT }, ...allOf] : allOf),
    ...listField('oneOf', listOf(schema.oneOf)),
    ...(schema.not === undefined ? {} : { not: schema.not }),
  };
}

function isNumberOrText(list: readonly unknown[]): boolean {
  const types = fieldsOfEach<JSONSchemaProps>(list).map(({ type }) => type);
  return types.length === 2 && types[0] === 'integer' && types[1] === 'string';
}

/** An embedded object gets kind and metadata, unless clients of v2 would then reject its other fields. */
function withEmbedded(schema: Source, converted: Source, form: SchemaForm): Source {
  if (schema[EMBEDDED] !== true || (form.version === 'v2' && schema[PRESERVE] === true)) return converted;
  const required = listOf(converted.required);
  return {
    ...converted,
    properties: { ...record(converted.properties), ...TYPE_META, metadata: metadataOf(form) },
    required: [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))],
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function listField(name: string, list: readonly unknown[]): JsonSchema {
  return list.length === 0 ? {} : { [name]: list };
}
