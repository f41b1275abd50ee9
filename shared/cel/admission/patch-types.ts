import type { FieldTypes, FunctionDeclaration, StructTypes } from '../check/declarations';
import { DYN, STRING, listOf, structOf } from '../check/types';
import type { CelType } from '../check/types';
import { ListValue, MapValue, StructValue } from '../eval/values';
import type { Value } from '../eval/values';
import { declare, global, onStrings } from '../library/functions';

/** What expressions of mutations return: an object of the type `Object`, or a list of `JSONPatch`. */
export const APPLIED_OBJECT = structOf('Object');
export const JSON_PATCH = listOf(structOf('JSONPatch'));

const PATCH_FIELDS: ReadonlyMap<string, CelType> = new Map([
  ['op', STRING],
  ['path', STRING],
  ['from', STRING],
  ['value', DYN],
]);
/** The type that upstream finds for a field that a patch does not have; no value has it. */
const NO_FIELD = structOf('');
const PATCH_FIELD_TYPES: FieldTypes = { get: (name) => PATCH_FIELDS.get(name) ?? NO_FIELD };

const ANY_FIELD: FieldTypes = { get: () => DYN };

/**
 * Adds the types of mutations: `Object`, `Object.spec` and so on have any field, because expressions do not know the kind they apply to
 * (k8s.io/apiserver `cel/mutation`).
 */
export function withPatchTypes(structs: StructTypes): StructTypes {
  const isObject = (name: string): boolean =>
    name === APPLIED_OBJECT.name || name.startsWith(`${APPLIED_OBJECT.name}.`);
  return {
    has: (name) => name === 'JSONPatch' || isObject(name) || structs.has(name),
    get: (name) =>
      name === 'JSONPatch' ? PATCH_FIELD_TYPES : isObject(name) ? ANY_FIELD : structs.get(name),
  };
}

/** Functions of mutations (k8s.io/apiserver `cel/library/jsonpatch.go`). */
export const PATCH_FUNCTIONS: readonly FunctionDeclaration[] = [
  declare(
    'jsonpatch.escapeKey',
    0,
    global(
      'string_jsonpatch_escapeKey_string',
      [STRING],
      STRING,
      onStrings((key = '') => key.replaceAll('~', '~0').replaceAll('/', '~1')),
    ),
  ),
];

/**
 * Compares the types of objects in a value with their places: below `Object`, the field `spec` must be an `Object.spec`.
 *
 * @param path the type that the value must have
 * @returns what is wrong, in upstream's words
 */
export function misplacedTypes(value: Value, path: string = APPLIED_OBJECT.name): readonly string[] {
  if (value instanceof ListValue) return Array.from(value).flatMap((item) => misplacedTypes(item, path));
  if (value instanceof StructValue) {
    const { typeName, fields } = value;
    const why = `unexpected type name ${JSON.stringify(typeName)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`;
    const below = Array.from(fields).flatMap(([name, field]) => misplacedTypes(field, `${path}.${name}`));
    return typeName === path ? below : [why, ...below];
  }
  if (!(value instanceof MapValue)) return [];
  return value
    .keys()
    .flatMap((key) => (typeof key === 'string' ? misplacedTypes(value.find(key) ?? null, path) : []));
}
