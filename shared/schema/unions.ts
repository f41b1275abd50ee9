import { expected } from './decode-error';
import type { FieldKind } from './types';

export interface UnionReaders {
  readonly schema: (value: unknown) => unknown;
  readonly schemas: (value: unknown) => unknown;
  readonly strings: (value: unknown) => unknown;
}

/**
 * The values of a custom resource's schema that may have one of two forms: a schema or a list of schemas, a schema or a boolean,
 * a schema or a list of strings. Instead of the lists anything else counts as nothing, as upstream has it; throws a DecodeError for what is no
 * boolean.
 */
export function decodeUnion(kind: FieldKind, value: unknown, readers: UnionReaders): unknown {
  if (typeof value === 'object' && !Array.isArray(value)) return readers.schema(value);
  if (kind === 'schemaOrBool') {
    if (typeof value !== 'boolean') throw expected('a schema or a boolean', value);
    return value;
  }
  if (kind === 'schemaOrArray') {
    return Array.isArray(value) ? readers.schemas(value) : null;
  }
  return Array.isArray(value) ? readers.strings(value) : null;
}
