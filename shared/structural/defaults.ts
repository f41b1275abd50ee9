import type { JsonObject } from '../object/clone';
import { cloneJson, setOwn } from '../object/clone';
import { stringifyExact } from '../object/exact-text';
import { fieldsBefore } from './prune';
import type { StructuralSchema } from './structural-schema';

/**
 * Characters of JSON that defaults may add to one object. It is more than can be stored, but a short list of
 * empty objects could otherwise exhaust memory.
 */
export const DEFAULTED_CHARS_MAX = 16 * 1024 * 1024;

/** Thrown when defaults would add more than `DEFAULTED_CHARS_MAX` to an object. */
export class TooManyDefaultsError extends Error {
  constructor() {
    super('the defaults of the schema make the object too large');
  }
}

/**
 * Fills in the defaults of the schema and drops each null that the schema does not allow; a default replaces
 * it if there is one. Nulls in lists stay where the items have no default, and all nulls stay where nothing is
 * pruned. The input is not changed, and is returned when nothing changes. Default values are never shared with
 * the schema. Throws TooManyDefaultsError.
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
  /** Characters added so far. */
  chars: number;
  /** Which nulls stay for validation to refuse: none, those in fields with a type, or all. */
  readonly kept: 'none' | 'typed' | 'all';
}

/** Fills in the defaults of a value anywhere inside an object. */
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

/** Returns the value of a field after defaulting; undefined where it is absent. */
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

/** Copies the default of a schema, with the defaults of the fields inside it. */
function defaultOf(schema: StructuralSchema | undefined, added: Added): unknown {
  if (schema?.default === undefined) return undefined;
  added.chars += sizeOf(schema);
  if (added.chars > DEFAULTED_CHARS_MAX) throw new TooManyDefaultsError();
  return valueWithDefaults(schema, cloneJson(schema.default), added);
}

const sizes = new WeakMap<StructuralSchema, number>();

/** Returns the size of a schema's default with its surrounding punctuation, in characters. */
function sizeOf(schema: StructuralSchema): number {
  const known = sizes.get(schema);
  if (known !== undefined) return known;
  const size = stringifyExact(schema.default).length + '"":,'.length;
  sizes.set(schema, size);
  return size;
}
