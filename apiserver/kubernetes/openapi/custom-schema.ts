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
 * The schema of a custom resource as clients read it, from `schema.openAPIV3Schema` of its version and with what every object has. In v2
 * without whatever that version cannot say or clients of it misunderstand. Source: the OpenAPI builder of apiextensions-apiserver, v1.21.
 */
export function customSchema(
  given: unknown,
  form: SchemaForm,
  options: { readonly preservesUnknown: boolean },
): JsonSchema {
  const schema = schemaIn(given);
  if (schema === undefined || !isStructural(schema)) return ANY_OBJECT;
  // With any field declared, clients of v2 would refuse all others.
  if (form.version === 'v2' && (schema[PRESERVE] === true || options.preservesUnknown)) return ANY_OBJECT;
  const { properties, ...rest } = convert(schema, form);
  return { ...rest, properties: { ...record(properties), ...TYPE_META, metadata: metadataOf(form) } };
}

/** As the definition has it: what is unchecked is what its values are. */
type Source = Unchecked<JSONSchemaProps>;

/** Undefined for what is no object: nothing, `true`, a list. */
function schemaIn(value: unknown): Source | undefined {
  return optionalRecord(value);
}

const ANY_OBJECT: JsonSchema = { type: 'object' };

/** What no structural schema has: it would have to be followed to be understood. */
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

/** Fields that are taken over as they are when they say anything. */
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
    if (PLAIN_FIELDS.has(name) && isSaid(value)) fields[name] = value;
  }
  return fields;
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}

function convert(schema: Source, form: SchemaForm): Source {
  const converted = form.version === 'v2' ? toV2(schema, form) : toV3(schema, form);
  return withEmbedded(schema, converted, form);
}

/** Fields that are not declared would be refused if any were: what may hold anything has no structure, and what may be null no type. */
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

/** What may be null may be absent. */
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

/** A schema for numbers and text says so once more in words that every reader knows. */
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

/** An object inside an object has its own kind and metadata, unless a client of v2 would then refuse what else it has. */
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
