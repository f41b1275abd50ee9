import { unexpectedType } from './decode-error';
import type { FieldKind } from './types';

export interface UnionReaders {
  readonly schema: (value: unknown) => unknown;
  readonly schemas: (value: unknown) => unknown;
  readonly strings: (value: unknown) => unknown;
}

/**
 * Decodes a schema union: a schema or a list of schemas, a schema or a boolean, a schema or a list of strings.
 * As upstream, another value in place of a list counts as null. Throws a DecodeError where a boolean is
 * expected.
 */
export function decodeUnion(kind: FieldKind, value: unknown, readers: UnionReaders): unknown {
  if (typeof value === 'object' && !Array.isArray(value)) return readers.schema(value);
  if (kind === 'schemaOrBool') {
    if (typeof value !== 'boolean') throw unexpectedType('schema or bool', value);
    return value;
  }
  if (kind === 'schemaOrArray') {
    return Array.isArray(value) ? readers.schemas(value) : null;
  }
  return Array.isArray(value) ? readers.strings(value) : null;
}
