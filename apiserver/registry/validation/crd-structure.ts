import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../shared/errors/field-error';
import type { Json } from './accessors';
import { optionalRecord, record, records, text } from './accessors';
import { defaultProblems } from './crd-defaults';

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
const INT_OR_STRING = 'x-kubernetes-int-or-string';
const EMBEDDED = 'x-kubernetes-embedded-resource';

/** That the schema is structural. The root is a whole object with metadata of its own. */
export function validateStructure(schema: Json, path: string): FieldError[] {
  const type = text(schema['type']);
  return [
    ...(type === '' || type === 'object'
      ? []
      : [invalid(`${path}.type`, type, 'must be object at the root')]),
    ...validateNode(schema, path),
    ...validateMeta(schema, path),
  ];
}

function validateNode(schema: Json, path: string): FieldError[] {
  const type = text(schema['type']);
  const isFree = schema[INT_OR_STRING] === true || schema[PRESERVE] === true;
  const items = optionalRecord(schema['items']);
  const more = optionalRecord(schema['additionalProperties']);
  return [
    ...(type === '' && !isFree ? [required(`${path}.type`, 'must not be empty')] : []),
    ...(type === 'array' && items === undefined ? [required(`${path}.items`, 'must be specified')] : []),
    ...(schema[EMBEDDED] === true ? validateEmbedded(schema, path) : []),
    ...defaultProblems(schema, path),
    ...validateJunctors(schema, path),
    ...Object.entries(record(schema['properties'])).flatMap(([name, child]) =>
      validateNode(record(child), `${path}.properties[${name}]`),
    ),
    ...(items === undefined ? [] : validateNode(items, `${path}.items`)),
    ...(more === undefined ? [] : validateNode(more, `${path}.additionalProperties`)),
  ];
}

function validateEmbedded(schema: Json, path: string): FieldError[] {
  const type = text(schema['type']);
  const isEmpty = Object.keys(record(schema['properties'])).length === 0;
  return [
    ...(type === '' || type === 'object'
      ? []
      : [invalid(`${path}.type`, type, `must be object if ${EMBEDDED} is true`)]),
    ...(isEmpty && schema[PRESERVE] !== true
      ? [required(`${path}.properties`, `must not be empty if ${EMBEDDED} is true without ${PRESERVE}`)]
      : []),
    ...validateMeta(schema, path),
  ];
}

/** What every object has is known already; of metadata only the names may be restricted. */
function validateMeta(schema: Json, path: string): FieldError[] {
  const properties = record(schema['properties']);
  const expected: Readonly<Record<string, string>> = {
    apiVersion: 'string',
    kind: 'string',
    metadata: 'object',
  };
  const metadata = record(properties['metadata']);
  const names = Object.keys(record(metadata['properties']));
  const rest = Object.keys(metadata).filter(
    (field) => !['type', 'properties', 'description'].includes(field),
  );
  return [
    ...Object.entries(expected).flatMap(([name, type]) => {
      const given = text(record(properties[name])['type']);
      return given === '' || given === type
        ? []
        : [invalid(`${path}.properties[${name}].type`, given, `must be ${type}`)];
    }),
    ...(rest.length > 0 || names.some((name) => name !== 'name' && name !== 'generateName')
      ? [
          forbiddenField(
            `${path}.properties[metadata]`,
            'must not specify anything other than name and generateName, but metadata is implicitly specified',
          ),
        ]
      : []),
  ];
}

const NOT_IN_JUNCTOR = ['type', 'title', 'description', 'default', 'additionalProperties', 'nullable'];
const MARKERS = [PRESERVE, EMBEDDED, INT_OR_STRING, 'x-kubernetes-list-type', 'x-kubernetes-map-type'];

/** Inside allOf, anyOf, oneOf and not there are only values to compare with, no structure. */
function validateJunctors(schema: Json, path: string): FieldError[] {
  const mayHaveType = schema[INT_OR_STRING] === true;
  const lists = ['allOf', 'anyOf', 'oneOf'].flatMap((field) =>
    records(schema[field]).flatMap((each, index) =>
      validateValues(each, `${path}.${field}[${String(index)}]`, mayHaveType),
    ),
  );
  const not = optionalRecord(schema['not']);
  return [...lists, ...(not === undefined ? [] : validateValues(not, `${path}.not`, false))];
}

function validateValues(schema: Json, path: string, mayHaveType: boolean): FieldError[] {
  const items = optionalRecord(schema['items']);
  return [
    ...[...NOT_IN_JUNCTOR, ...MARKERS]
      .filter((field) => isSet(schema[field]) && !(mayHaveType && field === 'type'))
      .map((field) => forbiddenField(`${path}.${field}`, 'must be undefined to be structural')),
    ...validateJunctors({ ...schema, [INT_OR_STRING]: mayHaveType }, path),
    ...Object.entries(record(schema['properties'])).flatMap(([name, child]) =>
      validateValues(record(child), `${path}.properties[${name}]`, false),
    ),
    ...(items === undefined ? [] : validateValues(items, `${path}.items`, false)),
  ];
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false;
}
