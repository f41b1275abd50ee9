import { evaluate, JsonPathEvaluationError } from './json-path-evaluation';
import { parseJsonPath } from './json-path-parser';

/** Reads what a path points at, in order. What is missing gives no value; never throws. */
export type JsonPathGetter = (object: unknown) => readonly unknown[];

export { JsonPathError } from './json-path-parser';

/**
 * Compiles the `jsonPath` of a printer column, which is a kubectl JSONPath without its braces: `.spec.x`, `.spec.list[0]`, `[-1]`,
 * `[0:2]`, `[*]`, `.*`, `['x','y']`, `.metadata.labels.a\.b`, `..name`, `.status.conditions[?(@.type=="Ready")].status`. A dot
 * in quotes is a dot of the path, too, unless it is escaped. Throws a JsonPathError for any other text.
 */
export function jsonPathGetter(path: string): JsonPathGetter {
  const steps = parseJsonPath(path);
  return (object) => {
    try {
      return evaluate(steps, object);
    } catch (error) {
      if (error instanceof JsonPathEvaluationError) return [];
      throw error;
    }
  };
}
