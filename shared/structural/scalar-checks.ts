import type { FieldError } from '../errors/field-error';
import { ownKeyMap } from '../own-key-map';
import type { Budget } from './budget';
import { spend, spendMatch, TEXT_CHARS_PER_STEP } from './budget';
import { hasFormat, isTextFormat } from './formats';
import { goFloat } from './go-text';
import type { Check } from './outcome';
import {
  addDetailedProblem,
  addPlainProblem,
  addSizeProblem,
  addTypeProblem,
  fieldOf,
  goError,
} from './outcome';
import { compilePattern } from './patterns';
import type { NumberRules, TextRules } from './structural-schema';

/** As upstream, only the first problem of length and pattern is reported, and the format always. */
export function checkText(rules: TextRules, value: string, check: Check): void {
  const { path, budget } = check;
  const { minLength, maxLength, pattern, format } = rules;
  spend(budget, value.length / TEXT_CHARS_PER_STEP);
  if (maxLength !== undefined && value.length > maxLength && runes(value) > maxLength) {
    addSizeProblem(check, value, maxLength, 'chars');
  } else if (minLength !== undefined && runes(value) < minLength) {
    addPlainProblem(check, `${path} in body should be at least ${String(minLength)} chars long`, value);
  } else if (pattern !== '') checkPattern(pattern, value, check);
  if (!isTextFormat(format)) return;
  check.outcome.matches += 1;
  spend(budget, FORMAT_STEPS);
  if (!hasFormat(value, format)) addTypeProblem(check, format, value);
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

/**
 * Checks the format and the bounds of a number in decimal arithmetic. Upstream truncates bounds for integers,
 * and tolerates rounding errors.
 */
export function checkNumber(rules: NumberRules, value: number | bigint, check: Check): void {
  const { format, multipleOf, minimum, maximum, isMinimumExclusive, isMaximumExclusive } = rules;
  const say = (text: string, bound: number): void => {
    addPlainProblem(check, `${check.path} in body should be ${text} ${boundText(value, bound)}`, value);
  };
  const limit = LIMITS.get(format);
  if (limit !== undefined && (value < limit.min || value > limit.max)) {
    const message = `${OUT_OF_RANGE} ${limit.type} with format ${format} in ${check.path}`;
    addDetailedProblem(check, message, () => goError('FieldValueInvalid', fieldOf(''), '', message));
  }
  if (multipleOf !== undefined) checkMultiple(value, multipleOf, check, say);
  if (minimum !== undefined && (isMinimumExclusive ? value <= minimum : value < minimum)) {
    say(isMinimumExclusive ? 'greater than' : 'greater than or equal to', minimum);
  }
  if (maximum !== undefined && (isMaximumExclusive ? value >= maximum : value > maximum)) {
    say(isMaximumExclusive ? 'less than' : 'less than or equal to', maximum);
  }
}

/** The greatest number that Go still rounds to a finite 32-bit floating point number. */
const FLOAT_MAX = 3.4028235677973366e38;

/** Ranges of the formats of v1.36. An integer of 64 bits and a double always fit. */
const LIMITS = ownKeyMap({
  int32: { type: 'integer', min: -(2 ** 31), max: 2 ** 31 - 1 },
  float: { type: 'number', min: -FLOAT_MAX, max: FLOAT_MAX },
});

const OUT_OF_RANGE = 'Checked value must be of type';

/** True for the error of a number that its format cannot hold. */
export function isOutOfRange({ message }: FieldError): boolean {
  return message.includes(`: ${OUT_OF_RANGE} `);
}

function checkMultiple(
  value: number | bigint,
  factor: number,
  check: Check,
  say: (text: string, bound: number) => void,
): void {
  if (factor <= 0) {
    const message = `factor MultipleOf declared for ${check.path} must be positive: ${goFloat(factor)}`;
    addPlainProblem(check, message, value);
  } else if (!isMultiple(value, factor, check.budget)) say('a multiple of', factor);
}

function boundText(value: number | bigint, bound: number): string {
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value);
  return isInteger && Number.isInteger(bound) ? String(BigInt(bound)) : goFloat(bound);
}

/** Compares decimal digits, since a quotient of floating point numbers is rounded. Exponents are at most 308. */
function isMultiple(value: number | bigint, factor: number, budget: Budget): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(factor)) return Number(value) % factor === 0;
  spend(budget, DECIMAL_STEPS);
  const [digits, exponent] = decimalOf(value);
  const [factorDigits, factorExponent] = decimalOf(factor);
  const shift = exponent - factorExponent;
  return shift >= 0
    ? (digits * 10n ** BigInt(shift)) % factorDigits === 0n
    : digits % (factorDigits * 10n ** BigInt(-shift)) === 0n;
}

/** Cost of a division of long numbers, in steps. */
const DECIMAL_STEPS = 100;

/** The shortest decimal digits of a number, and the power of ten to multiply them with. */
function decimalOf(value: number | bigint): readonly [digits: bigint, exponent: number] {
  if (typeof value === 'bigint') return [value, 0];
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return [BigInt(whole + fraction), Number(power) - fraction.length];
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
  if (max !== undefined && size > max) addSizeProblem(check, size, max, 'items');
}
