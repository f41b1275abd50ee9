import { isSchema } from './data-types';
import type { JsonSchema } from './data-types';

const ESCAPES = new Map([
  ['a', '\u0007'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ["'", "'"],
  ['\\', '\\'],
]);

/** One step: a dot and a name, or a quoted name in brackets. */
const STEP = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/suy;

/**
 * Reads the `fieldPath` of a rule, such as `.spec.names['a.b']` (`ValidFieldPath` of k8s.io/apiextensions-apiserver).
 *
 * @returns the path as errors show it with the schema of the field, or undefined when there is no such field
 */
export function readFieldPath(
  path: string,
  schema: JsonSchema,
): { readonly path: string; readonly schema: JsonSchema } | undefined {
  let current: JsonSchema = schema;
  let result = '';
  let offset = 0;
  while (offset < path.length) {
    STEP.lastIndex = offset;
    const match = STEP.exec(path);
    if (match === null) return undefined;
    offset += match[0].length;
    const name = match[1] ?? unescapeQuoted(match[2] ?? '');
    if (name === undefined) return undefined;
    const { properties, additionalProperties } = current;
    if (properties !== undefined) {
      const next = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (next === undefined) return undefined;
      result += result === '' ? name : `.${name}`;
      current = next;
    } else if (isSchema(additionalProperties)) {
      result += `[${name}]`;
      current = additionalProperties;
    } else return undefined;
  }
  return { path: result, schema: current };
}

function unescapeQuoted(text: string): string | undefined {
  let isValid = true;
  const plain = text.replaceAll(/\\(.)/gsu, (_, letter: string) => {
    const character = ESCAPES.get(letter);
    isValid &&= character !== undefined;
    return character ?? '';
  });
  return isValid ? plain : undefined;
}
