import type { Visits } from './json-path-evaluation';
import { createVisits, evaluate, JsonPathEvaluationError } from './json-path-evaluation';
import { parseJsonPath } from './json-path-parser';

/**
 * Returns the values that a path selects, in order. A missing field yields no value, and so does every step
 * once `visits` (default: the getter's own) is exhausted. Never throws.
 */
export type JsonPathGetter = (object: unknown, visits?: Visits) => readonly unknown[];

export { JsonPathError } from './json-path-parser';

/**
 * Compiles the `jsonPath` of a printer column, a kubectl JSONPath without its braces: `.spec.x`,
 * `.spec.list[0]`, `[-1]`, `[0:2]`, `[*]`, `.*`, `['x','y']`, `.metadata.labels.a\.b`, `..name`,
 * `.status.conditions[?(@.type=="Ready")].status`. A dot in quotes separates fields, too, unless it is
 * escaped. Throws JsonPathError for any other text.
 */
export function compileJsonPath(path: string): JsonPathGetter {
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
