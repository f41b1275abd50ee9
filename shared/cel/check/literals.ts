import { convertToDuration, convertToTimestamp } from '../eval/convert';
import { EvalError } from '../eval/values';
import type { Result, Value } from '../eval/values';
import { compilePattern } from '../library/regular-expressions';
import { walk } from '../parser/ast';
import type { Expr } from '../parser/ast';
import { Issues } from '../parser/source';
import type { Checked } from './checker';
import { DYN, formatType, isSameType, unwrapOptional } from './types';

/** The functions whose constant argument is checked when an expression is compiled. */
const CHECKED_ARGUMENTS = new Map<string, (value: Value) => Result | object>([
  ['duration', convertToDuration],
  ['timestamp', convertToTimestamp],
  ['matches', (value) => (typeof value === 'string' ? compilePattern(value) : '')],
]);

/** Reports constants without a value and literals with mixed types (cel-go `cel/validator.go`). */
export function validateLiterals(
  checked: Checked,
  { hasValues, isHomogeneous }: { readonly hasValues: boolean; readonly isHomogeneous: boolean },
): Issues {
  const issues = new Issues(checked.source);
  const report = (expr: Expr, message: string): void =>
    issues.report(checked.offsets.get(expr.id) ?? -1, message);
  walk(checked.expr, (part) => {
    if (!hasValues || part.kind !== 'call') return;
    const [argument] = part.args;
    const test = CHECKED_ARGUMENTS.get(part.name);
    if (test === undefined || argument?.kind !== 'literal') return;
    if (test(argument.value) instanceof EvalError) report(argument, `invalid ${part.name} argument`);
  });
  if (isHomogeneous) validateTypes(checked, checked.expr, report);
  return issues;
}

/** The arguments of `format` may have any types. */
function validateTypes(checked: Checked, expr: Expr, report: (expr: Expr, message: string) => void): void {
  const exempt = new Set<Expr>();
  walk(expr, (part) => {
    if (part.kind === 'call' && part.name === 'format')
      for (const argument of part.args) walk(argument, (inner) => exempt.add(inner));
    if (exempt.has(part)) return;
    if (part.kind === 'list')
      compareTypes(
        checked,
        part.elements.map((element, index) => [element, part.optional.has(index)]),
        report,
      );
    if (part.kind !== 'map') return;
    compareTypes(
      checked,
      part.entries.map(({ key }) => [key, false]),
      report,
    );
    compareTypes(
      checked,
      part.entries.map(({ value, isOptional }) => [value, isOptional]),
      report,
    );
  });
}

function compareTypes(
  checked: Checked,
  parts: readonly (readonly [Expr, boolean])[],
  report: (expr: Expr, message: string) => void,
): void {
  const typed = parts.map(([expr, isOptional]) => {
    const type = checked.types.get(expr.id) ?? DYN;
    return { expr, type: isOptional ? unwrapOptional(type)[0] : type };
  });
  const [first] = typed;
  const other = typed.find(({ type }) => first !== undefined && !isSameType(type, first.type));
  if (first === undefined || other === undefined) return;
  report(other.expr, `expected type '${formatType(first.type)}' but found '${formatType(other.type)}'`);
}
