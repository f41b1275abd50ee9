import type { JSONSchemaProps } from '../../../../shared/api/types/apiextensions-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { goStrings } from '../../../../shared/structural/go-text';
import { enumError, goError } from '../../../../shared/structural/outcome';
import { itemsOf, propertyOf } from './crd-schema-parts';

const LIST_TYPE = 'x-kubernetes-list-type';
const MAP_KEYS = 'x-kubernetes-list-map-keys';
const MAP_TYPE = 'x-kubernetes-map-type';
const LIST_TYPES = ['atomic', 'set', 'map'];
const MAP_TYPES = ['atomic', 'granular'];

/** How several writers share a list or a map: the markers fit the type, and keys are there for every item. */
export function validateListAndMapTypes(schema: JSONSchemaProps, path: string): FieldError[] {
  const { [LIST_TYPE]: listType, [MAP_TYPE]: mapType, [MAP_KEYS]: keys = [] } = schema;
  const fitsList = listType === undefined ? [] : fits(schema, path, { type: 'array', marker: LIST_TYPE });
  return [
    ...(mapType === undefined ? [] : fits(schema, path, { type: 'object', marker: MAP_TYPE })),
    ...(mapType === undefined || MAP_TYPES.includes(mapType)
      ? []
      : [enumError(`${path}.${MAP_TYPE}`, mapType, MAP_TYPES)]),
    ...fitsList,
    ...(listType === 'set' && fitsList.length === 0 ? validateSetItems(schema, `${path}.items`) : []),
    ...(listType === undefined || LIST_TYPES.includes(listType)
      ? []
      : [enumError(`${path}.${LIST_TYPE}`, listType, LIST_TYPES)]),
    ...(keys.length === 0 ? [] : validateOwner(listType, path)),
    ...(listType === 'map' ? validateKeyedList(schema, path, keys) : []),
    ...(listType === 'map' || listType === 'set' ? validateUniqueItems(schema, path, keys) : []),
  ];
}

function fits(
  { type: given = '' }: JSONSchemaProps,
  path: string,
  { type, marker }: { readonly type: string; readonly marker: string },
): FieldError[] {
  const why = `must be ${type} if ${marker} is specified`;
  if (given === '') return [required(`${path}.type`, why)];
  return given === type ? [] : [goError('FieldValueInvalid', `${path}.type`, given, why)];
}

/** Keys are for a list of type map only. */
function validateOwner(listType: string | undefined, path: string): FieldError[] {
  const why = `must be map if ${MAP_KEYS} is non-empty`;
  if (listType === undefined) return [required(`${path}.${LIST_TYPE}`, why)];
  return listType === 'map' ? [] : [goError('FieldValueInvalid', `${path}.${LIST_TYPE}`, listType, why)];
}

function validateKeyedList(schema: JSONSchemaProps, path: string, keys: readonly string[]): FieldError[] {
  const items = itemsOf(schema);
  const type = items?.type ?? '';
  return [
    ...(keys.length === 0
      ? [required(`${path}.${MAP_KEYS}`, `must not be empty if ${LIST_TYPE} is map`)]
      : []),
    ...(items === undefined ? [missingItems(schema, `${path}.items`)] : []),
    ...(items === undefined || type === 'object'
      ? []
      : [
          goError(
            'FieldValueInvalid',
            `${path}.items.type`,
            type,
            `must be object if parent array's ${LIST_TYPE} is map`,
          ),
        ]),
    ...(items !== undefined && type === 'object' ? validateKeys(items, path, keys) : []),
  ];
}

function missingItems({ items }: JSONSchemaProps, path: string): FieldError {
  return Array.isArray(items)
    ? invalid(path, items, `must only have a single schema if ${LIST_TYPE} is map`)
    : required(path, `must have a schema if ${LIST_TYPE} is map`);
}

function validateKeys(items: JSONSchemaProps, path: string, keys: readonly string[]): FieldError[] {
  const wrong = (detail: string): FieldError => ({
    reason: 'FieldValueInvalid',
    field: `${path}.${MAP_KEYS}`,
    message: `Invalid value: ${goStrings(keys)}: ${detail}`,
  });
  const distinct = new Set(keys);
  const known = keyProperties(items, distinct);
  // One error is enough for any number of invalid keys: it shows all of them.
  return [
    ...known.flatMap(([key, property]) => validateKeyType(property, `${path}.items.properties[${key}].type`)),
    ...(known.length < distinct.size ? [wrong('entries must all be names of item properties')] : []),
    ...(distinct.size < keys.length ? [wrong('must not contain duplicate entries')] : []),
  ];
}

/** The keys that are names of properties of the items, with those. */
function keyProperties(
  items: JSONSchemaProps,
  keys: ReadonlySet<string>,
): readonly (readonly [key: string, property: JSONSchemaProps])[] {
  return [...keys].flatMap((key) => {
    const property = propertyOf(items, key);
    return property === undefined ? [] : [[key, property] as const];
  });
}

function validateKeyType({ type }: JSONSchemaProps, path: string): FieldError[] {
  if (type !== 'array' && type !== 'object') return [];
  // Upstream shows the type of the items, which are objects.
  return [
    goError(
      'FieldValueInvalid',
      path,
      'object',
      `must be a scalar type if parent array's ${LIST_TYPE} is map`,
    ),
  ];
}

/** Items that are compared as a whole, or by their keys, can always be compared. */
function validateUniqueItems(schema: JSONSchemaProps, path: string, keys: readonly string[]): FieldError[] {
  const items = itemsOf(schema);
  if (items === undefined) return [];
  const { [LIST_TYPE]: listType = '' } = schema;
  const always = new Set(items.required);
  const known = listType === 'map' ? keyProperties(items, new Set(keys)) : [];
  return [
    ...(items.nullable === true
      ? [forbiddenField(`${path}.items.nullable`, `cannot be nullable when ${LIST_TYPE} is ${listType}`)]
      : []),
    ...known.flatMap(([key, property]) =>
      validateKey(property, `${path}.items.properties[${key}]`, always.has(key)),
    ),
  ];
}

function validateKey(property: JSONSchemaProps, path: string, isRequired: boolean): FieldError[] {
  const hasDefault = property.default !== undefined && property.default !== null;
  const why = `this property is in ${MAP_KEYS}, so it`;
  return [
    ...(isRequired || hasDefault
      ? []
      : [required(`${path}.default`, `${why} must have a default or be a required property`)]),
    ...(property.nullable === true ? [forbiddenField(`${path}.nullable`, `${why} cannot be nullable`)] : []),
  ];
}

/** Items of a set are compared as a whole. */
function validateSetItems(schema: JSONSchemaProps, path: string): FieldError[] {
  const items = itemsOf(schema);
  if (items === undefined) return [];
  const { type, [LIST_TYPE]: listType } = items;
  const isShared =
    (type === 'array' && listType !== undefined && listType !== 'atomic') ||
    (type === 'object' && items[MAP_TYPE] !== 'atomic');
  if (!isShared) return [];
  const why = `must be atomic as item of a list with ${LIST_TYPE}=set`;
  // Upstream shows the list type in both cases.
  return [
    goError('FieldValueInvalid', `${path}.${type === 'array' ? LIST_TYPE : MAP_TYPE}`, listType ?? null, why),
  ];
}
