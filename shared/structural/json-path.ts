import type { Visits } from './json-path-evaluation';
import { createVisits, evaluate, JsonPathEvaluationError } from './json-path-evaluation';
import { parseJsonPath } from './json-path-parser';

/**
 * Reads what a path points at, in order. What is missing gives no value, and so does everything once nothing is left of `visits`, which is
 * the getter's own if it is not given. Never throws.
 */
export type JsonPathGetter = (object: unknown, visits?: Visits) => readonly unknown[];

export { JsonPathError } from './json-path-parser';

/**
 * Compiles the `jsonPath` of a printer column, which is a kubectl JSONPath without its braces: `.spec.x`, `.spec.list[0]`, `[-1]`,
 * `[0:2]`, `[*]`, `.*`, `['x','y']`, `.metadata.labels.a\.b`, `..name`, `.status.conditions[?(@.type=="Ready")].status`. A dot
 * in quotes is a dot of the path, too, unless it is escaped. Throws a JsonPathError for any other text.
 */
export function jsonPathGetter(path: string): JsonPathGetter {
  const steps = parseJsonPath(path);
  return (object, visits = createVisits()) => {
    try {
      return evaluate(steps, object, visits);
    } catch (error) {
      if (error instanceof JsonPathEvaluationError) return [];
      throw error;
    }
  };
}
