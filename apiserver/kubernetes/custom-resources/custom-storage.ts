import type { JsonObject } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { apiVersionOf } from '../../../shared/object/object';
import { coerceEmbedded } from '../../../shared/structural/embedded';
import { prune } from '../../../shared/structural/prune';
import { TooManyDefaultsError, withDefaults } from '../../../shared/structural/defaults';
import type { StructuralSchema } from '../../../shared/structural/structural-schema';
import type { CustomStorage } from '../../engine/registry/resource';
import type { Converter } from './conversion/converter';
import type { LazyVersion } from './custom-version';

/**
 * Returns the storage codec of a definition, as v1.21's custom resource handler has it. A stored object is pruned and defaulted by the
 * schema of its stored version. It is then converted to the requested version, which prunes it again.
 */
export function customStorage(
  group: string,
  versions: ReadonlyMap<string, LazyVersion>,
  { hub, converter }: { readonly hub: string; readonly converter: Converter | undefined },
): CustomStorage {
  const byApiVersion = new Map(
    [...versions].map(([version, each]) => [apiVersionOf({ group, version }), each]),
  );
  const schemaOf = (apiVersion: string): StructuralSchema | undefined => byApiVersion.get(apiVersion)?.schema;
  const readable = (object: ApiObject): ApiObject =>
    pruneAndDefault(object, schemaOf(object.apiVersion ?? ''));
  const move = (object: ApiObject, apiVersion: string): ApiObject => {
    if (object.apiVersion === apiVersion) return object;
    return converter?.convertKept(object, apiVersion) ?? { ...object, apiVersion };
  };
  const convert = (object: ApiObject, apiVersion: string): ApiObject =>
    pruneAndCoerce(move(object, apiVersion), schemaOf(apiVersion));
  const read = (object: ApiObject, apiVersion: string): ApiObject =>
    object.apiVersion === apiVersion ? readable(object) : convert(readable(object), apiVersion);
  const hubVersion = apiVersionOf({ group, version: hub });
  return {
    ...(converter === undefined ? {} : { converts: true }),
    move,
    convert,
    read,
    readAll: async (objects, apiVersion, signal) => {
      if (converter === undefined) return objects.map((object) => read(object, apiVersion));
      const others = objects.filter((object) => object.apiVersion !== apiVersion).map(readable);
      const converted = (await converter.convert(others, apiVersion, signal)).values();
      return objects.map((object) => {
        if (object.apiVersion === apiVersion) return readable(object);
        return pruneAndCoerce(converted.next().value ?? object, schemaOf(apiVersion));
      });
    },
    keep: (object) => sortedObject(pruneAndCoerce(move(object, hubVersion), schemaOf(hubVersion))),
  };
}

/** Prunes and defaults the object. */
function pruneAndDefault(object: ApiObject, schema: StructuralSchema | undefined): ApiObject {
  if (schema === undefined) return object;
  const known = pruneAndCoerce(object, schema);
  try {
    return withDefaults(schema, known) as unknown as ApiObject;
  } catch (error) {
    // Defaults added later must not make a stored object unreadable, because it could then be neither updated nor deleted.
    if (error instanceof TooManyDefaultsError) return known;
    throw error;
  }
}

/** Malformed embedded objects are dropped as well, because old objects were validated less strictly. */
function pruneAndCoerce(object: ApiObject, schema: StructuralSchema | undefined): ApiObject {
  if (schema === undefined) return object;
  const { object: known } = prune(schema, object);
  const { object: formed } = coerceEmbedded(schema, known, { drop: true });
  return formed as unknown as ApiObject;
}

function sortedObject({ kind, apiVersion, metadata, ...rest }: ApiObject): ApiObject {
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
    metadata,
    ...(sorted(rest) as JsonObject),
  };
}

/** Sorts keys. Returns the same value if it is already sorted. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(sorted);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const entries = Object.entries(value);
  const inOrder = entries.every(([name], index) => index === 0 || (entries[index - 1]?.[0] ?? '') < name);
  const inner = entries.map(([name, each]): [string, unknown] => [name, sorted(each)]);
  if (inOrder && inner.every(([, each], index) => each === entries[index]?.[1])) return value;
  const result = Object.create(null) as JsonObject;
  for (const [name, each] of inner.toSorted(([a], [b]) => (a < b ? -1 : 1))) result[name] = each;
  return result;
}
