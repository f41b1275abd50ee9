import type { JsonObject } from '../object/clone';
import { setOwn } from '../object/clone';
import type { StructuralSchema } from './structural-schema';

export interface Pruned {
  /** The same object where nothing was dropped. */
  readonly object: JsonObject;
  /** Paths of at most `PRUNED_PATHS_MAX` dropped fields: `spec.list[0].name`. */
  readonly pruned: readonly string[];
}

/** Number of dropped fields that are named. */
export const PRUNED_PATHS_MAX = 100;

/** Fields of every API object. */
export const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Prunes unknown fields from a custom resource. Its own `apiVersion`, `kind` and `metadata` stay, and so do
 * those of embedded resources. The input is not changed; the result shares what stays.
 */
export function prune(schema: StructuralSchema, object: JsonObject): Pruned {
  if (schema.isUnpruned) return { object, pruned: [] };
  const pruning: Pruning = { root: object, path: [], pruned: [] };
  return { object: pruneObject(object, schema, schema.preservesUnknown, pruning), pruned: pruning.pruned };
}

/** Prunes a value inside an object, such as the default of a field. */
export function pruneValue(schema: StructuralSchema, value: unknown): unknown {
  return pruned(value, schema, schema.preservesUnknown, { root: undefined, path: [], pruned: [] });
}

interface Pruning {
  /** The root object, which is a resource whatever its schema says. */
  readonly root: JsonObject | undefined;
  readonly path: (string | number)[];
  readonly pruned: string[];
}

/** Without a schema every field is unknown. With `keeps` undeclared fields stay. */
function pruned(
  value: unknown,
  schema: StructuralSchema | undefined,
  keeps: boolean,
  pruning: Pruning,
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return pruneList(value, schema, keeps, pruning);
  return pruneObject(value as JsonObject, schema, keeps, pruning);
}

function pruneObject(
  source: JsonObject,
  schema: StructuralSchema | undefined,
  keeps: boolean,
  pruning: Pruning,
): JsonObject {
  const isWhole = schema?.isEmbedded === true || source === pruning.root;
  const more = schema?.additionalProperties;
  const place: Place = {
    properties: schema?.properties ?? NO_PROPERTIES,
    // As upstream, fields of objects are unknown even where any value is accepted.
    others: typeof more === 'object' ? more : undefined,
    refusesOthers: more === undefined && !keeps,
    keepsOthers: more === undefined && keeps,
  };
  let target: JsonObject | undefined;
  for (const key of Object.keys(source)) {
    const value = source[key];
    const kept = isWhole && META_FIELDS.has(key) ? value : field(key, value, place, pruning);
    if (target === undefined && kept !== value) target = fieldsBefore(source, key);
    if (target !== undefined && kept !== undefined) setOwn(target, key, kept);
  }
  return target ?? source;
}

/** Fields that one object may contain. */
interface Place {
  readonly properties: ReadonlyMap<string, StructuralSchema>;
  /** Schema of undeclared fields. */
  readonly others: StructuralSchema | undefined;
  readonly refusesOthers: boolean;
  /** Undeclared fields stay, with everything in them. */
  readonly keepsOthers: boolean;
}

const NO_PROPERTIES: ReadonlyMap<string, StructuralSchema> = new Map();

/** Returns the pruned value of one field; undefined where the field is dropped. */
function field(key: string, value: unknown, place: Place, pruning: Pruning): unknown {
  const declared = place.properties.get(key);
  if (declared === undefined && place.keepsOthers) return value;
  if (declared === undefined && place.refusesOthers) {
    report(pruning, key);
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return value;
  const schema = declared ?? place.others;
  pruning.path.push(key);
  const kept = pruned(value, schema, schema?.preservesUnknown === true, pruning);
  pruning.path.pop();
  return kept;
}

/** A list that preserves unknown fields extends that to its items. */
function pruneList(
  source: readonly unknown[],
  schema: StructuralSchema | undefined,
  keeps: boolean,
  pruning: Pruning,
): readonly unknown[] {
  const items = schema?.items;
  if (keeps && items === undefined) return source;
  const keepsItems = keeps || items?.preservesUnknown === true;
  let target: unknown[] | undefined;
  for (const [index, value] of source.entries()) {
    pruning.path.push(index);
    const kept = pruned(value, items, keepsItems, pruning);
    pruning.path.pop();
    if (target === undefined && kept !== value) target = source.slice(0, index);
    target?.push(kept);
  }
  return target ?? source;
}

function report({ path, pruned: paths }: Pruning, key: string): void {
  if (paths.length >= PRUNED_PATHS_MAX) return;
  const segments = [...path, key].map((each, index) => {
    if (typeof each === 'number') return `[${String(each)}]`;
    return index > 0 ? `.${each}` : each;
  });
  paths.push(segments.join(''));
}

/**
 * Copies the fields of an object before the field `end`, or all of them. A walk starts its copy with it at the
 * first field that changes.
 */
export function fieldsBefore(source: JsonObject, end?: string): JsonObject {
  const target: JsonObject = {};
  for (const key of Object.keys(source)) {
    if (key === end) break;
    setOwn(target, key, source[key]);
  }
  return target;
}
