import type { JsonObject } from '../object/clone';
import { cloneJson, setOwn } from '../object/clone';
import { stringifyExact } from '../object/exact-text';
import { fieldsBefore } from './fields-before';
import type { StructuralSchema } from './structural-schema';

/**
 * Defaults may add so many characters of JSON to an object. That is more than can be stored, but a short list of empty objects can ask for
 * more than fits into memory.
 */
export const DEFAULTED_CHARS_MAX = 16 * 1024 * 1024;

/** The defaults would make the object larger than `DEFAULTED_CHARS_MAX`. */
export class TooManyDefaultsError extends Error {
  constructor() {
    super('the defaults of the schema make the object too large');
  }
}

/**
 * Fills in the defaults of the schema, and drops each null that the schema does not allow: its default takes its place, if there is one.
 * Nulls in lists stay where the items have no default, and all of them where nothing is pruned. The input is not changed and is returned where there is nothing to do;
 * values of defaults are never shared with the schema. Throws a TooManyDefaultsError.
 */
export function withDefaults(
  schema: StructuralSchema,
  object: JsonObject,
  { keepsNulls = false }: { readonly keepsNulls?: boolean } = {},
): JsonObject {
  const kept = schema.isUnpruned ? 'all' : keepsNulls ? 'typed' : 'none';
  return objectWithDefaults(schema, object, { chars: 0, kept });
}

interface Added {
  /** What was added so far. */
  chars: number;
  /** Which nulls stay for validation to refuse: none, those where there is a type that they are not of, or all. */
  readonly kept: 'none' | 'typed' | 'all';
}

/** The same for a value anywhere inside an object. */
function valueWithDefaults(schema: StructuralSchema | undefined, value: unknown, added: Added): unknown {
  if (schema === undefined || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return listWithDefaults(schema, value, added);
  return objectWithDefaults(schema, value as JsonObject, added);
}

function objectWithDefaults(schema: StructuralSchema, source: JsonObject, added: Added): JsonObject {
  let target: JsonObject | undefined;
  for (const key of Object.keys(source)) {
    const value = source[key];
    const filled = field(fieldSchema(schema, key), value, added);
    if (target === undefined && filled !== value) target = fieldsBefore(source, key);
    if (target !== undefined && filled !== undefined) setOwn(target, key, filled);
  }
  for (const name of schema.defaulted) {
    if (Object.hasOwn(target ?? source, name)) continue;
    target ??= fieldsBefore(source);
    setOwn(target, name, defaultOf(schema.properties.get(name), added));
    added.chars += name.length;
  }
  return target ?? source;
}

/** What stands for the value of a field; undefined for nothing. */
function field(schema: StructuralSchema | undefined, value: unknown, added: Added): unknown {
  if (value === null && schema?.isNullable === false) {
    const filled = defaultOf(schema, added);
    const stays = added.kept === 'all' || (added.kept === 'typed' && schema.type !== '');
    return filled === undefined && stays ? null : filled;
  }
  return valueWithDefaults(schema, value, added);
}

function listWithDefaults(
  schema: StructuralSchema,
  source: readonly unknown[],
  added: Added,
): readonly unknown[] {
  const { items } = schema;
  if (items === undefined) return source;
  let target: unknown[] | undefined;
  for (const [index, value] of source.entries()) {
    const filled = field(items, value, added) ?? value;
    if (target === undefined && filled !== value) target = source.slice(0, index);
    target?.push(filled);
  }
  return target ?? source;
}

function fieldSchema(schema: StructuralSchema, key: string): StructuralSchema | undefined {
  const declared = schema.properties.get(key);
  if (declared !== undefined) return declared;
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

/** A copy of the default, with what the fields inside it have as defaults. */
function defaultOf(schema: StructuralSchema | undefined, added: Added): unknown {
  if (schema?.default === undefined) return undefined;
  added.chars += sizeOf(schema);
  if (added.chars > DEFAULTED_CHARS_MAX) throw new TooManyDefaultsError();
  return valueWithDefaults(schema, cloneJson(schema.default), added);
}

const sizes = new WeakMap<StructuralSchema, number>();

/** The characters of a schema's default, and of what stands around it. */
function sizeOf(schema: StructuralSchema): number {
  const known = sizes.get(schema);
  if (known !== undefined) return known;
  const size = stringifyExact(schema.default).length + '"":,'.length;
  sizes.set(schema, size);
  return size;
}
