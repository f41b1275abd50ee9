import type { FieldError } from '../../../shared/errors/field-error';
import { invalid } from '../../../shared/errors/field-error';
import { deepEqual } from '../../../shared/meta/clone';
import type { Json } from './accessors';
import { integer, optionalRecord, record, strings, text } from './accessors';

/** A default that the schema itself would refuse. */
export function defaultProblems(schema: Json, path: string): FieldError[] {
  const value = schema['default'];
  if (value === undefined || value === null) return [];
  return conforms(value, schema) ? [] : [invalid(`${path}.default`, value, 'does not conform to the schema')];
}

const NO_PROPERTIES: Json = {};

function conforms(value: unknown, schema: Json): boolean {
  if (value === null) return schema['nullable'] === true;
  const choices: unknown = schema['enum'];
  if (Array.isArray(choices) && choices.length > 0 && !choices.some((each) => deepEqual(each, value))) {
    return false;
  }
  return hasType(value, schema) && withinLimits(value, schema);
}

function hasType(value: unknown, schema: Json): boolean {
  const isInteger = typeof value === 'bigint' || Number.isInteger(value);
  if (schema['x-kubernetes-int-or-string'] === true) return isInteger || typeof value === 'string';
  switch (text(schema['type'])) {
    case 'array':
      return Array.isArray(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return isInteger;
    case 'number':
      return isInteger || typeof value === 'number';
    case 'object':
      return optionalRecord(value) !== undefined;
    case 'string':
      return typeof value === 'string';
    default:
      return true;
  }
}

function withinLimits(value: unknown, schema: Json): boolean {
  if (typeof value === 'string') return textConforms(value, schema);
  if (typeof value === 'number' || typeof value === 'bigint') return numberConforms(Number(value), schema);
  if (Array.isArray(value)) return listConforms(value, schema);
  const object = optionalRecord(value);
  return object === undefined || objectConforms(object, schema);
}

function between(length: number, min: unknown, max: unknown): boolean {
  return length >= (integer(min) ?? 0) && length <= (integer(max) ?? Infinity);
}

function textConforms(value: string, schema: Json): boolean {
  const pattern = text(schema['pattern']);
  return (
    between(Array.from(value).length, schema['minLength'], schema['maxLength']) &&
    (pattern === '' ||
      new RegExp(pattern.replaceAll('(?P<', '(?<').replace(/^\(\?[imsU]+\)/, '')).test(value))
  );
}

function numberConforms(value: number, schema: Json): boolean {
  const min = integer(schema['minimum']) ?? -Infinity;
  const max = integer(schema['maximum']) ?? Infinity;
  const step = integer(schema['multipleOf']) ?? 0;
  return (
    (schema['exclusiveMinimum'] === true ? value > min : value >= min) &&
    (schema['exclusiveMaximum'] === true ? value < max : value <= max) &&
    (step === 0 || Number.isInteger(value / step))
  );
}

function listConforms(value: readonly unknown[], schema: Json): boolean {
  const items = record(schema['items']);
  return (
    between(value.length, schema['minItems'], schema['maxItems']) &&
    value.every((each) => conforms(each, items))
  );
}

function objectConforms(value: Json, schema: Json): boolean {
  const properties = optionalRecord(schema['properties']) ?? NO_PROPERTIES;
  const more = schema['additionalProperties'];
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true || more === true;
  return (
    between(Object.keys(value).length, schema['minProperties'], schema['maxProperties']) &&
    strings(schema['required']).every((name) => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, each]) => {
      const known = optionalRecord(properties[name]) ?? optionalRecord(more);
      return known === undefined ? keepsUnknown : conforms(each, known);
    })
  );
}
