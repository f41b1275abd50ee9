import type { JsonObject } from '../object/clone';
import { setOwn } from '../object/clone';
import { fieldsBefore } from './fields-before';
import type { StructuralSchema } from './structural-schema';

export interface Pruned {
  /** The same object where nothing was unknown. */
  readonly object: JsonObject;
  /** Paths of what was dropped, at most `PRUNED_PATHS_MAX` of them: `spec.list[0].name`. */
  readonly pruned: readonly string[];
}

/** More dropped fields than this are not named. */
export const PRUNED_PATHS_MAX = 100;

/** What every API object has. */
export const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Drops the fields that the schema does not know, from a whole custom resource. Its own `apiVersion`, `kind` and `metadata` are left
 * alone, and so are those of embedded resources. The input is not changed; what is kept as it is is shared with the result.
 */
export function prune(schema: StructuralSchema, object: JsonObject): Pruned {
  if (schema.isUnpruned) return { object, pruned: [] };
  const pruning: Pruning = { root: object, path: [], pruned: [] };
  return { object: pruneObject(object, schema, schema.preservesUnknown, pruning), pruned: pruning.pruned };
}

/** The same for a value that stands somewhere inside an object, as the default of a field. */
export function pruneValue(schema: StructuralSchema, value: unknown): unknown {
  return pruned(value, schema, schema.preservesUnknown, { root: undefined, path: [], pruned: [] });
}

interface Pruning {
  /** A whole resource whatever its schema says. */
  readonly root: JsonObject | undefined;
  readonly path: (string | number)[];
  readonly pruned: string[];
}

/** Without a schema nothing is known. With `keeps` the fields that are not declared stay. */
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
    // Where any value is accepted, the fields of objects are still unknown: upstream's rule.
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

/** What one object may contain. */
interface Place {
  readonly properties: ReadonlyMap<string, StructuralSchema>;
  /** The schema of fields that are not declared. */
  readonly others: StructuralSchema | undefined;
  readonly refusesOthers: boolean;
  /** They stay, with everything in them. */
  readonly keepsOthers: boolean;
}

const NO_PROPERTIES: ReadonlyMap<string, StructuralSchema> = new Map();

/** What is kept of one field; undefined for nothing. */
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

/** A list in a place that keeps unknown fields passes that on to its items. */
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
