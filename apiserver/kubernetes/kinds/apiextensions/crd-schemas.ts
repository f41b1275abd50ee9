import type { JSONSchemaProps } from '../../../../shared/api/types/apiextensions-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid } from '../../../../shared/errors/field-error';
import { GROUP } from '../../../../shared/names';
import type { Budget } from '../../../../shared/structural/budget';
import { enumError, goError } from '../../../../shared/structural/outcome';
import { validateDefaults } from './crd-defaults';
import { validateListAndMapTypes } from './crd-list-types';
import { SERVES_VALIDATION_RULES, validateRules } from './crd-rules';
import type { RuleDemands } from './crd-rules';
import { isSchema } from './crd-schema-parts';
import type { PatternBudget } from './crd-structure';
import { validateStructure } from './crd-structure';

const UNSUPPORTED = [
  'id',
  'additionalItems',
  'patternProperties',
  'definitions',
  'dependencies',
  '$ref',
] as const;
/** The types of OpenAPI. */
export const SCHEMA_TYPES: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** What may be said of the whole object beside its fields if its status is written apart, by upstream's names. */
const ROOT_WITH_STATUS: ReadonlyMap<string, string> = new Map([
  ['description', 'Description'],
  ['type', 'Type'],
  ['format', 'Format'],
  ['title', 'Title'],
  ['maximum', 'Maximum'],
  ['exclusiveMaximum', 'ExclusiveMaximum'],
  ['minimum', 'Minimum'],
  ['exclusiveMinimum', 'ExclusiveMinimum'],
  ['maxLength', 'MaxLength'],
  ['minLength', 'MinLength'],
  ['pattern', 'Pattern'],
  ['maxItems', 'MaxItems'],
  ['minItems', 'MinItems'],
  ['uniqueItems', 'UniqueItems'],
  ['multipleOf', 'MultipleOf'],
  ['required', 'Required'],
  ['items', 'Items'],
  ['properties', 'Properties'],
  ['externalDocs', 'ExternalDocs'],
  ['example', 'Example'],
  ['x-kubernetes-preserve-unknown-fields', 'XPreserveUnknownFields'],
  ...(SERVES_VALIDATION_RULES ? [['x-kubernetes-validations', 'XValidations'] as const] : []),
]);

interface SchemaDemands {
  /** It must be structural. */
  readonly structure: boolean;
  /** Its types must be those of OpenAPI. */
  readonly types: boolean;
  /** It may have defaults. */
  readonly defaults: boolean;
  readonly patterns: PatternBudget;
  readonly values: Budget;
  readonly rules: RuleDemands | undefined;
}

/**
 * The schema of a custom resource: the parts of OpenAPI that are allowed, then, if required, that it is structural: every field has a
 * type, and says in one place what it looks like; then that the defaults fit it.
 */
export function validateSchema(
  schema: JSONSchemaProps,
  path: string,
  {
    hasStatus,
    demands,
    isUnchanged = false,
  }: { readonly hasStatus: boolean; readonly demands: SchemaDemands; readonly isUnchanged?: boolean },
): FieldError[] {
  const errors = [
    ...(hasStatus ? validateRoot(schema, path) : []),
    ...(schema.nullable === true
      ? [forbiddenField(`${path}.nullable`, 'nullable cannot be true at the root')]
      : []),
    ...allowedParts(schema, path, { demands, isRoot: true, isInMeta: false, whyNoDefaults: '' }),
  ];
  // A schema that is not structural was reported before.
  if (!demands.structure || isUnreadable(schema)) return errors;
  if (namesMetaSchema(schema)) return errors.length > 0 ? errors : [metaSchemaRefused(path)];
  const structure = validateStructure(schema, path, demands.patterns);
  const found = [
    ...errors,
    ...(structure.length > 0 ? structure : validateDefaults(schema, path, demands.values)),
  ];
  const { rules } = demands;
  if (rules === undefined) return found;
  const hasErrors = found.length > 0;
  return [...found, ...validateRules(schema, path, { demands: rules, hasErrors, isUnchanged })];
}

function validateRoot(schema: JSONSchemaProps, path: string): FieldError[] {
  for (const [field, value] of Object.entries(schema)) {
    if (!isSaidAtRoot(field, value)) continue;
    if (field === 'type' && value !== 'object') {
      const why =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      return [goError('FieldValueInvalid', `${path}.type`, value, why)];
    }
    if (ROOT_WITH_STATUS.has(field)) continue;
    const allowed = [...ROOT_WITH_STATUS.values()].join(' ');
    const why = `only [${allowed}] fields are allowed at the root of the schema if the status subresource is enabled`;
    return [invalid(path, schema, why)];
  }
  return [];
}

/** Parts that may be there and say nothing. */
const POINTERS: readonly string[] = [
  'additionalItems',
  'additionalProperties',
  'not',
  'default',
  '$ref',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
];

function isSaidAtRoot(field: string, value: unknown): boolean {
  if (POINTERS.includes(field)) return value !== undefined && value !== null;
  return isGiven(value) && value !== false;
}

/** Upstream looks into single schemas and lists of items, and not into what is refused as a whole for two of its names. */
const NOT_WALKED: readonly string[] = ['.patternProperties', '.additionalItems'];

function walkedChildrenOf(schema: JSONSchemaProps, path: string): ReturnType<typeof childrenOf> {
  return childrenOf(schema, path).filter(
    ([, at]) => !NOT_WALKED.some((field) => at.startsWith(field, path.length)),
  );
}

/** The position of a part in the schema, and its requirements. */
interface Place {
  readonly demands: SchemaDemands;
  readonly isRoot: boolean;
  /** In the metadata of an object, its own or an embedded one's. */
  readonly isInMeta: boolean;
  /** Empty where defaults are allowed if they are at all. */
  readonly whyNoDefaults: string;
}

function allowedParts(schema: JSONSchemaProps, path: string, place: Place): FieldError[] {
  return [
    ...ownParts(schema, path, place),
    ...walkedChildrenOf(schema, path).flatMap(([child, at, name]) =>
      allowedParts(child, at, placeOf(schema, at.slice(path.length), { place, name })),
    ),
    ...(schema['x-kubernetes-preserve-unknown-fields'] === false
      ? [invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined')]
      : []),
    ...validateListAndMapTypes(schema, path),
  ];
}

const META_FIELDS: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion']);

/** The place of a part inside another. */
function placeOf(
  parent: JSONSchemaProps,
  step: string,
  { place, name }: { readonly place: Place; readonly name: string },
): Place {
  const inside: Place = { ...place, isRoot: false };
  if (step === '.additionalProperties') {
    return place.isInMeta
      ? { ...inside, whyNoDefaults: 'inside additionalProperties applying to object metadata' }
      : inside;
  }
  const isResource = place.isRoot || parent['x-kubernetes-embedded-resource'] === true;
  if (!step.startsWith('.properties[') || !isResource || !META_FIELDS.has(name)) return inside;
  return { ...inside, isInMeta: true, ...(place.isRoot ? { whyNoDefaults: `in top-level ${name}` } : {}) };
}

function isGiven(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null;
}

/** Of items beyond a list an empty schema is one too, and an empty reference is a reference. */
function isSaid(schema: JSONSchemaProps, field: (typeof UNSUPPORTED)[number]): boolean {
  const { [field]: value } = schema;
  return POINTERS.includes(field) ? value !== undefined && value !== null : isGiven(value);
}

/** One schema for each item; without any there is nothing to refuse. */
function hasItemList({ items }: JSONSchemaProps): boolean {
  return Array.isArray(items) && items.length > 0;
}

/** Whether something in it has no place in a structural schema at all. */
function isUnreadable(schema: JSONSchemaProps): boolean {
  return (
    UNSUPPORTED.some((field) => isSaid(schema, field)) ||
    hasItemList(schema) ||
    schema['x-kubernetes-preserve-unknown-fields'] === false ||
    childrenOf(schema, '').some(([child]) => isUnreadable(child))
  );
}

/** Upstream finds a meta schema only as it reads the structure, and says so only when it has nothing else to say. */
function metaSchemaRefused(path: string): FieldError {
  return goError('FieldValueInvalid', path, '', "OpenAPIV3Schema 'schema' is not supported");
}

function namesMetaSchema(schema: JSONSchemaProps): boolean {
  return isGiven(schema.$schema) || childrenOf(schema, '').some(([child]) => namesMetaSchema(child));
}

function ownParts(schema: JSONSchemaProps, path: string, place: Place): FieldError[] {
  const { type = '', properties = {}, additionalProperties: more } = schema;
  const hasProperties = Object.keys(properties).length > 0;
  const { demands, isInMeta } = place;
  return [
    ...(!demands.types || type === '' || SCHEMA_TYPES.includes(type)
      ? []
      : [enumError(`${path}.type`, type, SCHEMA_TYPES)]),
    ...refusedDefault(schema, path, place),
    ...UNSUPPORTED.filter((field) => isSaid(schema, field)).map((field) =>
      forbiddenField(`${path}.${field}`, `${field} is not supported`),
    ),
    ...(type === 'null'
      ? [forbiddenField(`${path}.type`, 'type cannot be set to null, use nullable as an alternative')]
      : []),
    ...(hasItemList(schema)
      ? [forbiddenField(`${path}.items`, 'items must be a schema object and not an array')]
      : []),
    ...(isInMeta && schema['x-kubernetes-embedded-resource'] === true
      ? [forbiddenField(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta')]
      : []),
    ...(schema.uniqueItems === true
      ? [
          forbiddenField(
            `${path}.uniqueItems`,
            'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
          ),
        ]
      : []),
    ...(hasProperties && more !== undefined && more !== true
      ? [
          forbiddenField(
            `${path}.additionalProperties`,
            'additionalProperties and properties are mutual exclusive',
          ),
        ]
      : []),
  ];
}

const NO_DEFAULTS_YET = `(cannot set default values in ${GROUP.apiextensions}/v1beta1 CRDs, must use ${GROUP.apiextensions}/v1)`;

function refusedDefault(
  schema: JSONSchemaProps,
  path: string,
  { demands, whyNoDefaults }: Place,
): FieldError[] {
  if (schema.default === undefined || schema.default === null) return [];
  if (demands.defaults && whyNoDefaults === '') return [];
  return [
    forbiddenField(
      `${path}.default`,
      `must not be set ${whyNoDefaults === '' ? NO_DEFAULTS_YET : whyNoDefaults}`,
    ),
  ];
}

const MAPS = ['properties', 'patternProperties', 'definitions', 'dependencies'] as const;
const LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const SINGLE = ['additionalProperties', 'additionalItems', 'items', 'not'] as const;

type Child = readonly [child: JSONSchemaProps, path: string, name: string];

/** The schemas directly inside this one in upstream's order, with their paths, and their names where they have one. */
export function childrenOf(schema: JSONSchemaProps, path: string): Child[] {
  const inMap = (field: (typeof MAPS)[number]): Child[] =>
    Object.entries(schema[field] ?? {}).flatMap(([name, child]) =>
      isSchema(child) ? [[child, `${path}.${field}[${name}]`, name] as const] : [],
    );
  const inList = (field: (typeof LISTS)[number]): Child[] =>
    (schema[field] ?? []).map((child, index) => [child, `${path}.${field}[${String(index)}]`, ''] as const);
  const single = (field: (typeof SINGLE)[number]): Child[] => {
    const child = schema[field];
    return isSchema(child) ? [[child, `${path}.${field}`, ''] as const] : [];
  };
  const items = Array.isArray(schema.items) ? (schema.items as readonly JSONSchemaProps[]) : [];
  return [
    ...single('additionalProperties'),
    ...single('additionalItems'),
    ...inMap('properties'),
    ...inMap('patternProperties'),
    ...single('not'),
    ...inList('allOf'),
    ...inList('oneOf'),
    ...inList('anyOf'),
    ...inMap('definitions'),
    ...single('items'),
    ...items.map((child, index) => [child, `${path}.items[${String(index)}]`, ''] as const),
    ...inMap('dependencies'),
  ];
}
