import type { FieldError, FieldErrorReason } from '../errors/field-error';
import { FIELD_ERROR, ERRORS_SHOWN_MAX, tooLong, tooMany } from '../errors/field-error';
import { isInForce } from '../api/changes';
import type { Budget } from './budget';
import { isSpent, spend, TEXT_CHARS_PER_STEP } from './budget';
import { goQuote, goValue } from './go-text';
import type { StructuralSchema } from './structural-schema';
import { canonicalText } from './unique-key';

/** Result of validating a value. */
export interface Outcome {
  /** By message, since upstream deduplicates messages: without indices, all items of a list have the same path. */
  readonly problems: Map<string, FieldError>;
  /** Number of successful checks, which selects the nearest of several failed alternatives. */
  matches: number;
}

/** One value that is being validated. */
export interface Check {
  /** Names joined by dots, with the indices of lists at API levels whose messages have them. */
  readonly path: string;
  readonly outcome: Outcome;
  readonly budget: Budget;
  /** Undefined where nothing is ratcheted. */
  readonly previous: Previous | undefined;
}

/** The value of the stored object in the place of a validated one. */
export interface Previous {
  readonly value: unknown;
  /** The structural schema of this place. Inside of `anyOf` and the like it is not the schema that is validated. */
  readonly schema: StructuralSchema;
}

export function createOutcome(): Outcome {
  return { problems: new Map(), matches: 0 };
}

/** Validation stops after this many problems: one more than a response shows. */
export const PROBLEMS_MAX = ERRORS_SHOWN_MAX + 1;

function addProblem(outcome: Outcome, message: string, error: () => FieldError): void {
  if (outcome.problems.size < PROBLEMS_MAX && !outcome.problems.has(message)) {
    outcome.problems.set(message, error());
  }
}

/**
 * Adds a problem of a value. The length of the message counts as work, since it can contain the whole value.
 */
export function addDetailedProblem(
  { outcome, budget }: Check,
  message: string,
  error: () => FieldError,
): void {
  if (isSpent(budget)) return;
  addProblem(outcome, message, () => {
    const made = error();
    spend(budget, made.message.length / TEXT_CHARS_PER_STEP);
    return made;
  });
}

export function mergeOutcome(into: Outcome, from: Outcome): void {
  into.matches += from.matches;
  for (const [message, error] of from.problems) addProblem(into, message, () => error);
}

/** The path of the root object in upstream's messages. */
const ROOT = '<nil>';

/** Returns the field of an error. Paths below a map at the root begin with a dot. */
export function fieldOf(path: string): string {
  const field = path.startsWith('.') ? path.slice(1) : path;
  return field === '' ? ROOT : field;
}

/** Returns a field error with the value as Go prints it. */
export function goError(reason: FieldErrorReason, field: string, value: unknown, detail = ''): FieldError {
  const text = `${FIELD_ERROR[reason]}: ${goValue(value)}`;
  return { reason, field, message: detail === '' ? text : `${text}: ${detail}` };
}

export function requiredError(field: string): FieldError {
  return { reason: 'FieldValueRequired', field, message: FIELD_ERROR.FieldValueRequired };
}

/** Returns the error for an object that exceeds the budget. */
export function budgetExceeded(): FieldError {
  return goError('FieldValueInvalid', ROOT, '', 'comparing the object with its schema takes too long');
}

/** Reports a problem whose message contains the path. */
export function addPlainProblem(
  check: Check,
  message: string,
  value: unknown,
  reason: FieldErrorReason = 'FieldValueInvalid',
): void {
  addDetailedProblem(check, message, () => goError(reason, fieldOf(check.path), value, message));
}

const HAS_REASONS = isInForce('reasonsOfValues');

/** Reports a value of another type or format. */
export function addTypeProblem(check: Check, expected: string, actual: string): void {
  const message = `${check.path} in body must be of type ${expected}: ${goQuote(actual)}`;
  addPlainProblem(check, message, actual, HAS_REASONS ? 'FieldValueTypeInvalid' : undefined);
}

/** Reports a value that has too much of `unit`. */
export function addSizeProblem(check: Check, value: string | number, max: number, unit: SizeUnit): void {
  const { path } = check;
  const size =
    unit === 'chars' ? `be at most ${String(max)} chars long` : `have at most ${String(max)} ${unit}`;
  const message = `${path} in body should ${size}`;
  // Older releases show the limit of properties in place of their number.
  if (!HAS_REASONS) addPlainProblem(check, message, unit === 'properties' ? max : value);
  else if (typeof value === 'string')
    addDetailedProblem(check, message, () => tooLong(fieldOf(path), value, max));
  else addDetailedProblem(check, message, () => tooMany(fieldOf(path), value, max));
}

export type SizeUnit = 'chars' | 'items' | 'properties';

/**
 * Returns the error for an unsupported value. It lists the supported values in the order of the schema, those
 * that are not strings as JSON.
 */
export function enumError(field: string, value: unknown, choices: readonly unknown[]): FieldError {
  return goError('FieldValueNotSupported', field, value, `supported values: ${shownChoices(choices)}`);
}

/** Cached per schema, since many values of one object can fail in the same way. */
const shown = new WeakMap<readonly unknown[], string>();

function shownChoices(choices: readonly unknown[]): string {
  const known = shown.get(choices);
  if (known !== undefined) return known;
  const texts = choices.map((each) => goQuote(typeof each === 'string' ? each : canonicalText(each)));
  const made = texts.join(', ');
  shown.set(choices, made);
  return made;
}
