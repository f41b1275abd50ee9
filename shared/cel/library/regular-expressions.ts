import { RE2JS } from 're2js';
import { EvalError } from '../eval/values';

/** The most patterns kept compiled; patterns that are constants of a rule are compiled with it. */
const PATTERNS_MAX = 256;

const compiled = new Map<string, RE2JS>();

/**
 * Compiles a pattern in RE2 syntax; matching takes time linear in the text.
 *
 * @returns the pattern, or the error of an evaluation in Go's words
 */
export function compilePattern(pattern: string): RE2JS | EvalError {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  try {
    const result = RE2JS.compile(pattern);
    if (compiled.size >= PATTERNS_MAX) compiled.delete(compiled.keys().next().value ?? '');
    compiled.set(pattern, result);
    return result;
  } catch (error) {
    return new EvalError(error instanceof Error ? error.message : String(error));
  }
}
