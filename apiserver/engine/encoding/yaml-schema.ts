import type { Schema } from 'js-yaml';
import { FAILSAFE_SCHEMA, Type } from 'js-yaml';
import { resolveScalar } from './yaml/resolve';

/** Times and numbers of base 60, which other readers of YAML 1.1 recognize. */
const OF_OTHER_READERS =
  /^(?:\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|[ \t]+)\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d*)?[ \t]*(?:Z|[-+]\d{1,2}(?::?\d\d)?)?)?|[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?)$/;

function represents(
  name: string,
  predicate: (value: unknown) => boolean,
  represent: (value: unknown) => string,
): Type {
  return new Type(`tag:yaml.org,2002:${name}`, {
    kind: 'scalar',
    resolve: () => false,
    predicate,
    represent,
  });
}

/**
 * The types that the writer knows, integers of more than 53 bits among them. Text that a reader would take for another
 * type is quoted, as in Go.
 */
export const YAML_OUTPUT_SCHEMA: Schema = FAILSAFE_SCHEMA.extend({
  implicit: [
    new Type('tag:yaml.org,2002:text', { kind: 'scalar', resolve: mustBeQuoted }),
    represents(
      'null',
      (value) => value === null,
      () => 'null',
    ),
    represents('bool', (value) => typeof value === 'boolean', String),
    represents('number', (value) => typeof value === 'number' || typeof value === 'bigint', String),
  ],
});

/** The library asks whether text without quotes has another type. */
function mustBeQuoted(text: string): boolean {
  return (
    OF_OTHER_READERS.test(text) ||
    resolveScalar({ kind: 'scalar', text, tag: '', isPlain: true }).type !== 'str'
  );
}
