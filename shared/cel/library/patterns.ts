import type { FunctionDeclaration } from '../check/declarations';
import { INT, STRING, listOf } from '../check/types';
import { ArrayList, EvalError, NO_OVERLOAD } from '../eval/values';
import type { Result, Value } from '../eval/values';
import { declare, method } from './functions';
import { compilePattern } from './regular-expressions';

function illegal(problem: EvalError): EvalError {
  return new EvalError(`Illegal regex: ${problem.message}`);
}

function find(text?: Value, pattern?: Value): Result {
  if (typeof text !== 'string' || typeof pattern !== 'string') return NO_OVERLOAD;
  const compiled = compilePattern(pattern);
  if (compiled instanceof EvalError) return illegal(compiled);
  const matcher = compiled.matcher(text);
  return matcher.find() ? (matcher.group() ?? '') : '';
}

function findAll(text?: Value, pattern?: Value, limit: Value = -1n): Result {
  if (typeof text !== 'string' || typeof pattern !== 'string' || typeof limit !== 'bigint')
    return NO_OVERLOAD;
  const compiled = compilePattern(pattern);
  if (compiled instanceof EvalError) return illegal(compiled);
  const matcher = compiled.matcher(text);
  const found: Value[] = [];
  const count = limit < 0n ? Infinity : Number(limit);
  while (found.length < count && matcher.find()) found.push(matcher.group() ?? '');
  return new ArrayList(found);
}

/** Searching with patterns (k8s.io/apiserver `cel/library/regex.go`). */
export const PATTERN_FUNCTIONS: readonly FunctionDeclaration[] = [
  declare('find', 0, method('string_find_string', [STRING, STRING], STRING, find)),
  declare(
    'findAll',
    0,
    method('string_find_all_string', [STRING, STRING], listOf(STRING), findAll),
    method('string_find_all_string_int', [STRING, STRING, INT], listOf(STRING), findAll),
  ),
];
