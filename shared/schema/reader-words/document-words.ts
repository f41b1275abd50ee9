import { NumberText, stringifyExact } from '../../object/exact-text';
import { isJsonObject } from '../../object/clone';
import { DOCUMENT_BYTES_MAX } from './reader-words';
import { goTypeOfValue } from './scalar-words';

/** What Go says of a document whose kind and version cannot be read; undefined where they can, or are not there. */
export function typeMetaWords(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `json: cannot unmarshal ${goTypeOfValue(value)} into Go value of type ${TYPE_META}`;
  }
  const { kind, apiVersion } = value as Readonly<Record<string, unknown>>;
  if (isTextOrNone(kind) && isTextOrNone(apiVersion)) return undefined;
  // The first of them in the document is told of.
  const found = Object.entries(value).find(
    ([name, given]) => (name === 'kind' || name === 'apiVersion') && !isTextOrNone(given),
  );
  if (found === undefined) return undefined;
  const [name, given] = found;
  return `json: cannot unmarshal ${goTypeOfValue(given)} into Go struct field .${name} of type string`;
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

const TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/**
 * The JSON that upstream makes of a value that was parsed from YAML, or that has no schema, before it reads it: names in their order.
 * Undefined where the body, which the value is a part of, is too long to be read again.
 */
export function jsonInOrder(value: unknown, body: Buffer): Buffer | undefined {
  if (body.length > DOCUMENT_BYTES_MAX) return undefined;
  return jsonBytesOf(inOrder(value));
}

/** The JSON of a value as Go writes it. */
export function jsonBytesOf(value: unknown): Buffer {
  return Buffer.from(stringifyExact(value).replace(/[<>&\u2028\u2029]/g, escaped));
}

/** The value with all names in their order. */
export function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isJsonObject(value) || value instanceof NumberText) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, inOrder(each)]));
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
