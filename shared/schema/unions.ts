import { expected } from './decode-error';
import type { FieldKind } from './types';

export interface UnionReaders {
  readonly schema: (value: unknown) => unknown;
  readonly schemas: (value: unknown) => unknown;
  readonly strings: (value: unknown) => unknown;
}

/**
 * The values of a custom resource's schema that may have one of two forms: a schema or a list of schemas, a schema or a boolean,
 * a schema or a list of strings. Throws a DecodeError for anything else.
 */
export function decodeUnion(kind: FieldKind, value: unknown, readers: UnionReaders): unknown {
  if (typeof value === 'object' && !Array.isArray(value)) return readers.schema(value);
  if (kind === 'schemaOrBool') {
    if (typeof value !== 'boolean') throw expected('a schema or a boolean', value);
    return value;
  }
  if (kind === 'schemaOrArray') {
    if (!Array.isArray(value)) throw expected('a schema or a list of schemas', value);
    return readers.schemas(value);
  }
  if (!Array.isArray(value)) throw expected('a schema or a list of strings', value);
  return readers.strings(value);
}
