import { spend, spendMatch, TEXT_CHARS_PER_STEP } from './budget';
import { hasFormat, isTextFormat } from './formats';
import { goFloat, goNumber, goQuote } from './go-text';
import type { Check } from './outcome';
import { addPlainProblem } from './outcome';
import { compilePattern } from './patterns';
import type { NumberRules, TextRules } from './structural-schema';

/** As upstream, only the first problem of length and pattern is reported, and the format always. */
export function checkText(rules: TextRules, value: string, check: Check): void {
  const { path, budget } = check;
  const { minLength, maxLength, pattern, format } = rules;
  spend(budget, value.length / TEXT_CHARS_PER_STEP);
  if (maxLength !== undefined && value.length > maxLength && runes(value) > maxLength) {
    addPlainProblem(check, `${path} in body should be at most ${String(maxLength)} chars long`, value);
  } else if (minLength !== undefined && runes(value) < minLength) {
    addPlainProblem(check, `${path} in body should be at least ${String(minLength)} chars long`, value);
  } else if (pattern !== '') checkPattern(pattern, value, check);
  if (!isTextFormat(format)) return;
  check.outcome.matches += 1;
  spend(budget, FORMAT_STEPS);
  if (!hasFormat(value, format)) {
    addPlainProblem(check, `${path} in body must be of type ${format}: ${goQuote(value)}`, value);
  }
}

/** Cost of checking the format of a short text, in steps. A date costs most. */
const FORMAT_STEPS = 8;

/** Counts characters as Go counts runes. */
function runes(text: string): number {
  let count = text.length;
  for (let index = 0; index + 1 < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(index + 1);
    if (next < 0xdc00 || next > 0xdfff) continue;
    count -= 1;
    index += 1;
  }
  return count;
}

function checkPattern(pattern: string, value: string, check: Check): void {
  const program = compilePattern(pattern);
  if ('problem' in program) {
    addPlainProblem(
      check,
      `${check.path} in body should match '${pattern}, but pattern is invalid: ${program.problem}'`,
      value,
    );
    return;
  }
  const work = value.length * program.instructions;
  if (!spendMatch(check.budget, work, () => program.test(value))) {
    addPlainProblem(check, `${check.path} in body should match '${pattern}'`, value);
  }
}

/** As upstream, integers are compared with the integer part of a bound. */
export function checkNumber(rules: NumberRules, value: number | bigint, check: Check): void {
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value);
  const { multipleOf, minimum, maximum, isMinimumExclusive, isMaximumExclusive } = rules;
  const say = (text: string, bound: number): void => {
    const shown = isInteger ? goNumber(integerPart(bound)) : goFloat(bound);
    addPlainProblem(check, `${check.path} in body should be ${text} ${shown}`, value);
  };
  if (multipleOf !== undefined && !isMultiple(value, multipleOf, isInteger)) say('a multiple of', multipleOf);
  if (minimum !== undefined) {
    const bound = isInteger ? integerPart(minimum) : minimum;
    if (isMinimumExclusive ? value <= bound : value < bound) {
      say(isMinimumExclusive ? 'greater than' : 'greater than or equal to', minimum);
    }
  }
  if (maximum !== undefined) {
    const bound = isInteger ? integerPart(maximum) : maximum;
    if (isMaximumExclusive ? value >= bound : value > bound) {
      say(isMaximumExclusive ? 'less than' : 'less than or equal to', maximum);
    }
  }
}

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** Clamps a bound to 64 bits. */
function integerPart(bound: number): number | bigint {
  const whole = Math.trunc(bound);
  if (Number.isSafeInteger(whole) || !Number.isFinite(whole)) return whole;
  const exact = BigInt(whole);
  if (exact > INT64_MAX) return INT64_MAX;
  return exact < INT64_MIN ? INT64_MIN : exact;
}

function isMultiple(value: number | bigint, factor: number, isInteger: boolean): boolean {
  const whole = integerPart(factor);
  // A factor below one would truncate to zero as an integer, by which upstream would divide.
  if (isInteger && whole !== 0) return BigInt(value) % BigInt(whole) === 0n;
  const number = Number(value);
  return isJsonInteger(factor < 1 ? (1 / factor) * number : number / factor);
}

const RELATIVE_ERROR_MAX = 1e-9;

/** True for a safe integer, and for a number that differs from one only by rounding. */
export function isJsonInteger(value: number): boolean {
  if (Number.isInteger(value)) return Number.isSafeInteger(value);
  const whole = Math.trunc(value);
  if (!Number.isFinite(value) || whole < 0) return false;
  return whole !== 0 && (value - whole) / (value + whole) < RELATIVE_ERROR_MAX;
}

/** Checks the number of items. */
export function checkLength(
  size: number,
  { min, max }: { readonly min: number | undefined; readonly max: number | undefined },
  check: Check,
): void {
  const { path } = check;
  if (min !== undefined && size < min)
    addPlainProblem(check, `${path} in body should have at least ${String(min)} items`, size);
  if (max !== undefined && size > max)
    addPlainProblem(check, `${path} in body should have at most ${String(max)} items`, size);
}
