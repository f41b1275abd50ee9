import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../shared/errors/field-error';
import type { Json } from './accessors';
import { optionalRecord, optionalText, record, strings, text } from './accessors';

const LIST_TYPE = 'x-kubernetes-list-type';
const MAP_KEYS = 'x-kubernetes-list-map-keys';
const MAP_TYPE = 'x-kubernetes-map-type';
const LIST_TYPES = ['atomic', 'map', 'set'];
const MAP_TYPES = ['atomic', 'granular'];

/** How several writers share a list or a map: the markers fit the type, and keys are there for every item. */
export function validateListAndMapTypes(schema: Json, path: string): FieldError[] {
  const listType = optionalText(schema[LIST_TYPE]);
  const mapType = optionalText(schema[MAP_TYPE]);
  const keys = strings(schema[MAP_KEYS]);
  return [
    ...(listType === undefined ? [] : fits(schema, path, 'array')),
    ...(mapType === undefined ? [] : fits(schema, path, 'object')),
    ...(listType === undefined || LIST_TYPES.includes(listType)
      ? []
      : [notSupported(`${path}.${LIST_TYPE}`, listType, LIST_TYPES)]),
    ...(mapType === undefined || MAP_TYPES.includes(mapType)
      ? []
      : [notSupported(`${path}.${MAP_TYPE}`, mapType, MAP_TYPES)]),
    ...(keys.length > 0 && listType === undefined
      ? [required(`${path}.${LIST_TYPE}`, `must be map if ${MAP_KEYS} is non-empty`)]
      : []),
    ...(keys.length > 0 && listType !== undefined && listType !== 'map'
      ? [invalid(`${path}.${LIST_TYPE}`, listType, `must be map if ${MAP_KEYS} is non-empty`)]
      : []),
    ...(listType === 'map' ? validateMapList(schema, path, keys) : []),
    ...(listType === 'set' ? validateSetItems(record(schema['items']), `${path}.items`) : []),
  ];
}

function fits(schema: Json, path: string, type: string): FieldError[] {
  const given = text(schema['type']);
  if (given === '') return [required(`${path}.type`, `must be ${type}`)];
  return given === type ? [] : [invalid(`${path}.type`, given, `must be ${type}`)];
}

function validateMapList(schema: Json, path: string, keys: readonly string[]): FieldError[] {
  const items = optionalRecord(schema['items']);
  const at = `${path}.${MAP_KEYS}`;
  if (keys.length === 0) return [required(at, 'must not be empty if the list type is map')];
  if (items === undefined) return [required(`${path}.items`, 'must have a schema if the list type is map')];
  const properties = record(items['properties']);
  return [
    ...fits(items, `${path}.items`, 'object'),
    ...(new Set(keys).size < keys.length ? [invalid(at, keys, 'entries must be unique')] : []),
    ...keys.flatMap((key) => {
      const property = optionalRecord(properties[key]);
      return property === undefined
        ? [invalid(at, key, 'entries must all be names of item properties')]
        : validateKey(property, `${path}.items.properties[${key}]`, strings(items['required']).includes(key));
    }),
  ];
}

function validateKey(property: Json, path: string, isRequired: boolean): FieldError[] {
  const type = text(property['type']);
  return [
    ...(type === 'array' || type === 'object'
      ? [invalid(`${path}.type`, type, 'must be a scalar type if parent list type is map')]
      : []),
    ...(isRequired || property['default'] !== undefined
      ? []
      : [
          required(
            `${path}.default`,
            `this property is in ${MAP_KEYS}, so it must have a default or be required`,
          ),
        ]),
    ...(property['nullable'] === true
      ? [invalid(`${path}.nullable`, true, `this property is in ${MAP_KEYS}, so it cannot be nullable`)]
      : []),
  ];
}

/** Items of a set are compared as a whole. */
function validateSetItems(items: Json, path: string): FieldError[] {
  const type = text(items['type']);
  const markers: Readonly<Record<string, string>> = { object: MAP_TYPE, array: LIST_TYPE };
  const marker = markers[type];
  return [
    ...(items['nullable'] === true
      ? [invalid(`${path}.nullable`, true, 'cannot be true when the list type is set')]
      : []),
    ...(marker !== undefined && items[marker] !== 'atomic'
      ? [
          invalid(
            `${path}.${marker}`,
            items[marker] ?? null,
            'must be atomic as item of a list with type set',
          ),
        ]
      : []),
  ];
}
