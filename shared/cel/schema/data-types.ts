import type { FieldTypes } from '../check/declarations';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  listOf,
  mapOf,
  structOf,
} from '../check/types';
import type { CelType } from '../check/types';
import { escapeName, isReserved } from './escaping';

/** The parts of a structural schema that expressions depend on, by their names in OpenAPI. */
export interface JsonSchema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: unknown;
  readonly items?: unknown;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly maxLength?: number | bigint;
  readonly maxItems?: number | bigint;
  readonly maxProperties?: number | bigint;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
}

/** One element of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export type DataKind =
  | 'object'
  | 'map'
  | 'list'
  | 'string'
  | 'bytes'
  | 'duration'
  | 'date'
  | 'dateTime'
  | 'scalar'
  | 'intOrString';

/** A property that expressions can name. */
export interface DataField {
  /** The name of the property itself. */
  readonly name: string;
  readonly type: DataType;
}

/** What expressions know of the values of one schema. */
export interface DataType {
  readonly kind: DataKind;
  readonly celType: CelType;
  /** The most elements, or characters, for estimates of costs. */
  readonly elementsMax: number;
  /** The least bytes of such a value in JSON. */
  readonly bytesMin: number;
  /** Of an object: its properties by their own names, also those that expressions cannot name. */
  readonly properties: ReadonlyMap<string, DataType>;
  /** Of an object: its properties by their names in expressions. */
  readonly fields: ReadonlyMap<string, DataField>;
  /** Of a list or a map: the type of its values. */
  readonly element: DataType | undefined;
  readonly listType: string;
  readonly listMapKeys: readonly string[];
}

/** The largest request, in bytes; estimates depend on this number whatever a server's limit is. */
export const REQUEST_BYTES_MAX = 3 * 1024 * 1024;
/** The longest text in a request, without its quotation marks. */
const TEXT_MAX = REQUEST_BYTES_MAX - 2;
/** The most bytes of a character. */
const CHARACTER_BYTES = 4;

const NO_TYPES: ReadonlyMap<string, DataType> = new Map();
const NO_FIELDS: ReadonlyMap<string, DataField> = new Map();

function simple(
  kind: DataKind,
  celType: CelType,
  [elementsMax, bytesMin]: readonly [number, number],
): DataType {
  return {
    kind,
    celType,
    elementsMax,
    bytesMin,
    properties: NO_TYPES,
    fields: NO_FIELDS,
    element: undefined,
    listType: '',
    listMapKeys: [],
  };
}

const TEXT_SCHEMA: JsonSchema = { type: 'string' };

/** Adds the properties that every resource has; expressions see no other metadata than the name (`WithTypeAndObjectMeta`). */
export function withResourceMeta(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  const { metadata: meta } = properties ?? {};
  const hasText = (from: JsonSchema | undefined, name: string): boolean =>
    from?.properties?.[name]?.type === 'string';
  const isComplete =
    hasText(schema, 'kind') &&
    hasText(schema, 'apiVersion') &&
    meta?.type === 'object' &&
    hasText(meta, 'name') &&
    hasText(meta, 'generateName');
  if (isComplete) return schema;
  const metadata: JsonSchema = {
    type: 'object',
    properties: { name: TEXT_SCHEMA, generateName: TEXT_SCHEMA },
  };
  return { ...schema, properties: { ...properties, kind: TEXT_SCHEMA, apiVersion: TEXT_SCHEMA, metadata } };
}

/** Types with fields that expressions may meet, by name. */
export type Structs = Map<string, FieldTypes>;

export interface Declaring {
  /** Receives the types of objects. */
  readonly structs: Structs;
  /** The name of the type, if it is an object. */
  readonly name: string;
  /** Whether it is the root of a resource, whose `apiVersion`, `kind` and `metadata` are known. */
  readonly isResource: boolean;
}

/**
 * Declares the values of a structural schema (k8s.io/apiserver `cel/common/schemas.go`, `SchemaDeclType`).
 *
 * @returns undefined for schemas that expressions cannot see
 */
export function declareData(source: JsonSchema, declaring: Declaring): DataType | undefined {
  if (source['x-kubernetes-int-or-string'] === true) {
    return simple('intOrString', DYN, [lengthMax(source.maxLength) ?? TEXT_MAX, 1]);
  }
  const schema = declaring.isResource ? withResourceMeta(source) : source;
  switch (schema.type ?? '') {
    case 'array':
      return declareList(schema, declaring);
    case 'object':
      return isSchema(schema.additionalProperties)
        ? declareMap(schema, schema.additionalProperties, declaring)
        : declareObject(schema, declaring);
    case 'string':
      return declareText(schema);
    case 'boolean':
      return simple('scalar', BOOL, [0, 4]);
    case 'number':
      return simple('scalar', DOUBLE, [0, 1]);
    case 'integer':
      return simple('scalar', INT, [0, 1]);
    default:
      return undefined;
  }
}

/** Whether `items` or `additionalProperties` is a schema. */
export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a schema is that of an embedded resource. */
export function isEmbedded(schema: JsonSchema): boolean {
  return schema['x-kubernetes-embedded-resource'] === true;
}

/** Returns a limit of a schema as a number; negative ones count as 0. */
export function notNegative(value: number | bigint): number {
  return Math.max(Number(value), 0);
}

function lengthMax(maxLength: number | bigint | undefined): number | undefined {
  return maxLength === undefined ? undefined : notNegative(maxLength) * CHARACTER_BYTES;
}

function declareList(schema: JsonSchema, { structs, name }: Declaring): DataType | undefined {
  if (!isSchema(schema.items)) return undefined;
  const { items } = schema;
  const element = declareData(items, { structs, name: `${name}.@idx`, isResource: isEmbedded(items) });
  if (element === undefined) return undefined;
  const fitting = Math.floor(TEXT_MAX / (element.bytesMin + 1));
  return {
    ...simple('list', listOf(element.celType), [
      schema.maxItems === undefined ? fitting : notNegative(schema.maxItems),
      2,
    ]),
    element,
    listType: schema['x-kubernetes-list-type'] ?? '',
    listMapKeys: schema['x-kubernetes-list-map-keys'] ?? [],
  };
}

/** The least bytes around a value in a map: its key with quotation marks, a colon and a comma. */
const KEY_BYTES_MIN = 6;

function declareMap(
  schema: JsonSchema,
  values: JsonSchema,
  { structs, name }: Declaring,
): DataType | undefined {
  const element = declareData(values, { structs, name: `${name}.@elem`, isResource: isEmbedded(values) });
  if (element === undefined) return undefined;
  const fitting = Math.floor(TEXT_MAX / (element.bytesMin + KEY_BYTES_MIN));
  const elementsMax = schema.maxProperties === undefined ? fitting : notNegative(schema.maxProperties);
  return { ...simple('map', mapOf(STRING, element.celType), [elementsMax, 2]), element };
}

/** The bytes around the value of a property: quotation marks, a colon and a comma. */
const PROPERTY_BYTES = 4;

function declareObject(schema: JsonSchema, { structs, name }: Declaring): DataType {
  const properties = new Map<string, DataType>();
  const fields = new Map<string, DataField>();
  const types = new Map<string, CelType>();
  let bytesMin = 2;
  for (const [property, each] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeName(property);
    const type = declareData(each, {
      structs,
      name: `${name}.${escaped ?? property}`,
      isResource: isEmbedded(each),
    });
    if (type === undefined) continue;
    properties.set(property, type);
    if (escaped !== undefined) {
      for (const written of isReserved(property) ? [escaped, property] : [escaped]) {
        fields.set(written, { name: property, type });
        types.set(written, type.celType);
      }
    }
    const isAlways =
      schema.required?.includes(property) === true && (each.default ?? undefined) === undefined;
    if (isAlways) bytesMin += property.length + type.bytesMin + PROPERTY_BYTES;
  }
  structs.set(name, types);
  return { ...simple('object', structOf(name), [0, bytesMin]), properties, fields };
}

function declareText(schema: JsonSchema): DataType {
  const { maxLength } = schema;
  switch (schema.format ?? '') {
    case 'byte':
      return simple('bytes', BYTES, [maxLength === undefined ? TEXT_MAX : notNegative(maxLength), 2]);
    case 'duration':
      return simple('duration', DURATION, [32, 3]);
    case 'date':
      return simple('date', TIMESTAMP, [12, 12]);
    case 'date-time':
      return simple('dateTime', TIMESTAMP, [32, 21]);
    default: {
      const longest = Math.max(
        0,
        ...(schema.enum ?? []).map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)),
      );
      const fallback = (schema.enum ?? []).length > 0 ? longest : TEXT_MAX;
      return simple('string', STRING, [lengthMax(maxLength) ?? fallback, 2]);
    }
  }
}

/** Returns the size of the data at a path; the first name is the variable that holds it. */
export function sizeAt(root: DataType, path: readonly string[]): { min: number; max: number } | undefined {
  let current: DataType | undefined = root;
  for (const step of path.slice(1)) {
    if (step === '@keys') return current.kind === 'map' ? { min: 0, max: 0 } : undefined;
    const next: DataType | undefined =
      step === '@items' || step === '@values' ? current.element : current.fields.get(step)?.type;
    if (next === undefined) return undefined;
    current = next;
  }
  return { min: 0, max: current.elementsMax };
}
