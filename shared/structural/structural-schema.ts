import type { JSONSchemaProps } from '../api/types/apiextensions-v1';
import type { Unchecked } from '../object/values';
import { cloneJson, isJsonObject } from '../object/clone';
import { normalFormat } from './formats';

/**
 * Compiled schema of a custom resource, for pruning, defaulting and validation: an immutable tree without
 * descriptions, in which equal subtrees are one node.
 */
export interface StructuralSchema {
  /** Empty where every type is accepted. */
  readonly type: string;
  readonly isNullable: boolean;
  readonly isIntOrString: boolean;
  /**
   * The value is an embedded resource: `apiVersion`, `kind` and `metadata` are known without being declared.
   */
  readonly isEmbedded: boolean;
  /** Undeclared fields are kept. Declared fields are still pruned by their own schema. */
  readonly preservesUnknown: boolean;
  /** Nothing is pruned: the definition has `preserveUnknownFields`. Only a root may have it. */
  readonly isUnpruned: boolean;
  readonly properties: ReadonlyMap<string, StructuralSchema>;
  readonly items: StructuralSchema | undefined;
  /** Schema of undeclared keys. True accepts them, false refuses them, undefined is unspecified. */
  readonly additionalProperties: StructuralSchema | boolean | undefined;
  /** Undefined where there is none. It is shared, so copy it before handing it out. */
  readonly default: unknown;
  /** Names of properties that have a default. */
  readonly defaulted: readonly string[];
  /** `atomic`, `set`, `map`, or empty. */
  readonly listType: string;
  readonly listMapKeys: readonly string[];
  /** `atomic`, `granular`, or empty. */
  readonly mapType: string;
  readonly text: TextRules | undefined;
  readonly number: NumberRules | undefined;
  readonly list: ListRules | undefined;
  readonly object: ObjectRules | undefined;
  /** Undefined where every value is accepted. */
  readonly choices: readonly unknown[] | undefined;
  readonly junctors: Junctors | undefined;
  /** True when it contains sets, keyed lists or embedded resources, so that other schemas skip that walk. */
  readonly hasUniqueLists: boolean;
  readonly hasEmbedded: boolean;
}

export interface TextRules {
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  /** Empty for none. */
  readonly pattern: string;
  /** In the schema's spelling; empty for none and for formats that are not validated. */
  readonly format: string;
}

export interface NumberRules {
  /** `int32`, `int64`, `float`, `double`, or empty. */
  readonly format: string;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly isMinimumExclusive: boolean;
  readonly isMaximumExclusive: boolean;
  readonly multipleOf: number | undefined;
}

/** `uniqueItems` is absent, since no definition may use it. */
export interface ListRules {
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
}

export interface ObjectRules {
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
  readonly required: readonly string[];
}

/** Further schemas of the same value, which carry no structure. */
export interface Junctors {
  readonly allOf: readonly StructuralSchema[];
  readonly anyOf: readonly StructuralSchema[];
  readonly oneOf: readonly StructuralSchema[];
  readonly not: StructuralSchema | undefined;
}

/**
 * Compiles `schema.openAPIV3Schema` of one version of a definition. A malformed schema reads as an empty one,
 * since definitions are validated when they are stored. The result keeps nothing of the input. Compile on
 * first use.
 */
export function compileSchema(
  json: unknown,
  { preserveUnknownFields = false, validatesDefaults = false }: CompileOptions = {},
): StructuralSchema {
  const root = compileNode(json, { nodes: new Map(), ids: new Map(), validatesDefaults });
  return preserveUnknownFields ? { ...root, isUnpruned: true } : root;
}

export interface CompileOptions {
  readonly preserveUnknownFields?: boolean;
  /**
   * The schema validates defaults, for which upstream has rules of its own: any format counts where there is no
   * type, and int-or-string accepts every value.
   */
  readonly validatesDefaults?: boolean;
}

/** Pool of equal nodes of one schema. */
interface Pool {
  /** Nodes by content, with ids for the nodes inside. */
  readonly nodes: Map<string, StructuralSchema>;
  readonly ids: Map<StructuralSchema, number>;
  readonly validatesDefaults: boolean;
}

const NO_PROPERTIES: ReadonlyMap<string, StructuralSchema> = new Map();
/** An unchecked schema. */
type Source = Unchecked<JSONSchemaProps>;

const NOTHING: Source = {};
const NONE: readonly never[] = [];

function compileNode(json: unknown, pool: Pool): StructuralSchema {
  const source: Source = isJsonObject(json) ? json : NOTHING;
  const type = text(source.type);
  const properties = compileProperties(source.properties, pool);
  const items = isJsonObject(source.items) ? compileNode(source.items, pool) : undefined;
  const additionalProperties = compileAdditional(source.additionalProperties, pool);
  const junctors = compileJunctors(source, pool);
  const listType = text(source['x-kubernetes-list-type']);
  const isEmbedded = source['x-kubernetes-embedded-resource'] === true;
  const inside = [...properties.values(), items, additionalProperties].filter(
    (each): each is StructuralSchema => typeof each === 'object',
  );
  return shared(
    {
      type,
      isNullable: source.nullable === true,
      isIntOrString: isIntOrString(source, pool),
      isEmbedded,
      preservesUnknown: source['x-kubernetes-preserve-unknown-fields'] === true,
      isUnpruned: false,
      properties,
      items,
      additionalProperties,
      default: cloneJson(source.default) ?? undefined,
      defaulted: orNone(
        [...properties].filter(([, each]) => each.default !== undefined).map(([name]) => name),
      ),
      listType,
      listMapKeys: orNone(texts(source['x-kubernetes-list-map-keys'])),
      mapType: text(source['x-kubernetes-map-type']),
      ...compileRules(source, type, pool),
      junctors,
      hasUniqueLists: listType === 'set' || listType === 'map' || inside.some((each) => each.hasUniqueLists),
      hasEmbedded: isEmbedded || inside.some((each) => each.hasEmbedded),
    },
    pool,
  );
}

/** Returns the equal node of the pool, if there is one. */
function shared(node: StructuralSchema, pool: Pool): StructuralSchema {
  const key = JSON.stringify(node, (_, value: unknown) => {
    if (value === node || typeof value !== 'object' || value === null) {
      return typeof value === 'bigint' ? `${String(value)}n` : value;
    }
    if (value instanceof Map) return [...value];
    return pool.ids.get(value as StructuralSchema) ?? value;
  });
  const known = pool.nodes.get(key);
  if (known !== undefined) return known;
  pool.nodes.set(key, node);
  pool.ids.set(node, pool.ids.size);
  return node;
}

function compileProperties(json: unknown, pool: Pool): ReadonlyMap<string, StructuralSchema> {
  if (!isJsonObject(json)) return NO_PROPERTIES;
  const entries = Object.entries(json);
  if (entries.length === 0) return NO_PROPERTIES;
  return new Map(entries.map(([name, each]) => [name, compileNode(each, pool)]));
}

function compileAdditional(json: unknown, pool: Pool): StructuralSchema | boolean | undefined {
  if (typeof json === 'boolean') return json;
  return isJsonObject(json) ? compileNode(json, pool) : undefined;
}

function compileRules(
  source: Source,
  type: string,
  { validatesDefaults }: Pool,
): Pick<StructuralSchema, 'text' | 'number' | 'list' | 'object' | 'choices'> {
  const choices: unknown = source.enum;
  const required = texts(source.required);
  const format = normalFormat(
    text(source.format),
    source['x-kubernetes-int-or-string'] === true && !validatesDefaults ? '' : type,
    validatesDefaults,
  );
  return {
    text: unlessEmpty({
      minLength: number(source.minLength),
      maxLength: number(source.maxLength),
      pattern: text(source.pattern),
      format,
    }),
    number: unlessEmpty({
      format: type === 'integer' || type === 'number' ? format : '',
      minimum: number(source.minimum),
      maximum: number(source.maximum),
      isMinimumExclusive: source.exclusiveMinimum === true,
      isMaximumExclusive: source.exclusiveMaximum === true,
      multipleOf: number(source.multipleOf),
    }),
    list: unlessEmpty({
      minItems: number(source.minItems),
      maxItems: number(source.maxItems),
    }),
    object: unlessEmpty({
      minProperties: number(source.minProperties),
      maxProperties: number(source.maxProperties),
      required: orNone(required),
    }),
    choices: Array.isArray(choices) && choices.length > 0 ? cloneJson<unknown[]>(choices) : undefined,
  };
}

function isIntOrString(source: Source, { validatesDefaults }: Pool): boolean {
  return source['x-kubernetes-int-or-string'] === true && !validatesDefaults;
}

function compileJunctors(source: Source, pool: Pool): Junctors | undefined {
  const each = (field: 'allOf' | 'anyOf' | 'oneOf'): readonly StructuralSchema[] => {
    const list: unknown = source[field];
    return Array.isArray(list) ? orNone(list.map((schema) => compileNode(schema, pool))) : NONE;
  };
  return unlessEmpty({
    allOf: each('allOf'),
    anyOf: each('anyOf'),
    oneOf: each('oneOf'),
    not: isJsonObject(source.not) ? compileNode(source.not, pool) : undefined,
  });
}

/** Returns undefined for rules of which none is set. */
function unlessEmpty<T extends object>(rules: T): T | undefined {
  const isSet = (value: unknown): boolean =>
    Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '' && value !== false;
  return Object.values(rules).some(isSet) ? rules : undefined;
}

function orNone<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NONE : list;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : NONE;
}

/** As upstream, bounds are floating point numbers. */
function number(value: unknown): number | undefined {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' ? value : undefined;
}
