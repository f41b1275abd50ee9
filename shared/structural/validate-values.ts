import type { FieldError } from '../errors/field-error';
import { isInForce } from '../api/changes';
import type { JsonObject } from '../object/clone';
import { deepEqual, getOwn, isJsonObject } from '../object/clone';
import type { Budget } from './budget';
import { createBudget, isSpent, KEY_CHARS_PER_STEP, spend, TEXT_CHARS_PER_STEP } from './budget';
import type { Check, Outcome } from './outcome';
import {
  createOutcome,
  enumError,
  addDetailedProblem,
  fieldOf,
  goError,
  mergeOutcome,
  NO_PREVIOUS,
  PROBLEMS_MAX,
  addPlainProblem,
  requiredError,
  budgetExceeded,
} from './outcome';
import { checkLength, checkNumber, checkText } from './scalar-checks';
import type { Junctors, StructuralSchema } from './structural-schema';
import { checkType } from './type-check';
import { keyOfItem, KEY_STEPS } from './list-types';
import { uniqueKey } from './unique-key';

const SHOWS_INDICES = isInForce('indicesOfItems');

export interface ValueValidation {
  /** Precedes the field of each error (`spec.versions[0].…default`). */
  readonly prefix?: string;
  /** When it is exhausted, validation stops with an error that says so. */
  readonly budget?: Budget;
  /** The stored object of an update: errors of values that are equal in it are left out. */
  readonly previous?: unknown;
  /** Whether paths have the indices of list items; by default as at the API level in force. */
  readonly showsIndices?: boolean;
}

/**
 * Validates a value against the keywords of its schema, with the messages of upstream. Values of a list correspond to those of the stored object
 * by the keys of the list, if it has any. Source: `ratchetingValueValidator` of k8s.io/apiextensions-apiserver.
 */
export function validateValues(
  schema: StructuralSchema,
  value: unknown,
  {
    prefix = '',
    budget = createBudget(),
    previous = NO_PREVIOUS,
    showsIndices = SHOWS_INDICES,
  }: ValueValidation = {},
): readonly FieldError[] {
  const outcome = createOutcome();
  validateNode(schema, value, { path: '', outcome, budget, previous, showsIndices });
  const errors = [...outcome.problems.values()];
  if (isSpent(budget)) errors.push(budgetExceeded());
  return prefix === ''
    ? errors
    : errors.map((error) => ({ ...error, field: joinField(prefix, error.field) }));
}

/** Joins the field of a part to the path of the part. */
export function joinField(prefix: string, field: string): string {
  if (field === fieldOf('')) return prefix;
  return field.startsWith('[') ? prefix + field : `${prefix}.${field}`;
}

/** Matches that upstream counts for every value: see `Outcome.matches`. */
const MATCHES_OF_ANY = 4;

function validateNode(schema: StructuralSchema, value: unknown, check: Check): void {
  const { outcome, budget, previous } = check;
  const { size } = outcome.problems;
  if (isSpent(budget) || size >= PROBLEMS_MAX) return;
  spend(budget, 1);
  checkNode(schema, value, check);
  const hasNew = previous !== NO_PREVIOUS && outcome.problems.size > size;
  if (hasNew && deepEqual(value, previous))
    for (const message of [...outcome.problems.keys()].slice(size)) outcome.problems.delete(message);
}

function checkNode(schema: StructuralSchema, value: unknown, check: Check): void {
  const { outcome } = check;
  checkType(schema, value, check);
  if (value !== null && value !== undefined) {
    outcome.matches += MATCHES_OF_ANY;
    if (schema.junctors !== undefined) checkJunctors(schema.junctors, value, check);
    checkKind(schema, value, check);
  }
  if (schema.choices !== undefined) checkChoices(schema.choices, value, check);
}

/** The check of a part. It is a literal, because copies of objects are slow where every value of an object has one. */
function checkAt({ outcome, budget, showsIndices }: Check, path: string, previous: unknown): Check {
  return { path, outcome, budget, previous, showsIndices };
}

function checkKind(schema: StructuralSchema, value: unknown, check: Check): void {
  const { outcome } = check;
  if (typeof value === 'string') {
    outcome.matches += 1;
    if (schema.text !== undefined) checkText(schema.text, value, check);
  } else if (typeof value === 'number' || typeof value === 'bigint') {
    outcome.matches += 2;
    if (schema.number !== undefined) checkNumber(schema.number, value, check);
  } else if (Array.isArray(value)) {
    outcome.matches += 2;
    checkList(schema, value, check);
  } else if (typeof value === 'object') {
    outcome.matches += 1;
    checkObject(schema, value as JsonObject, check);
  }
}

function checkList(schema: StructuralSchema, value: readonly unknown[], check: Check): void {
  const { items, list } = schema;
  if (items !== undefined) {
    const previousOf = previousItems(schema, check);
    for (const [index, each] of value.entries()) {
      const path = check.showsIndices ? `${check.path}[${String(index)}]` : check.path;
      validateNode(items, each, checkAt(check, path, previousOf(each)));
      if (isSpent(check.budget)) return;
    }
  }
  if (list === undefined) return;
  checkLength(value.length, { min: list.minItems, max: list.maxItems }, check);
}

/** Returns how to find the stored item that corresponds to an item: the first one with its keys. */
function previousItems(
  { listType, listMapKeys }: StructuralSchema,
  { previous, budget }: Check,
): (item: unknown) => unknown {
  if (listType !== 'map' || !Array.isArray(previous)) return () => NO_PREVIOUS;
  spend(budget, 2 * KEY_STEPS * listMapKeys.length * previous.length);
  const keyOf = (item: unknown): unknown => uniqueKey(keyOfItem(isJsonObject(item) ? item : {}, listMapKeys));
  const byKey = new Map<unknown, unknown>();
  for (const item of previous.toReversed() as readonly unknown[]) byKey.set(keyOf(item), item);
  return (item) => {
    const key = keyOf(item);
    return byKey.has(key) ? byKey.get(key) : NO_PREVIOUS;
  };
}

function previousField({ path, previous }: Check, key: string): unknown {
  // The version of the stored object is that of the request.
  if (!isJsonObject(previous) || !Object.hasOwn(previous, key)) return NO_PREVIOUS;
  return path === '' && (key === 'apiVersion' || key === 'kind') ? NO_PREVIOUS : getOwn(previous, key);
}

/** Cost of looking up a value among the choices, in steps, besides building its key. */
const CHOICE_STEPS = 0.25;

function checkChoices(choices: readonly unknown[], value: unknown, check: Check): void {
  const { path, budget } = check;
  const key = uniqueKey(value);
  const charsPerStep = typeof value === 'string' ? TEXT_CHARS_PER_STEP : KEY_CHARS_PER_STEP;
  spend(budget, CHOICE_STEPS + (typeof key === 'string' ? key.length / charsPerStep : 0));
  if (value !== null && keysOf(choices).has(key)) return;
  addDetailedProblem(check, `${path} in body should be one of`, () =>
    enumError(fieldOf(path), value, choices),
  );
}

/** Cached per schema. Without a set, each value would be compared with every choice. */
const keysOfChoices = new WeakMap<readonly unknown[], ReadonlySet<unknown>>();

function keysOf(choices: readonly unknown[]): ReadonlySet<unknown> {
  const known = keysOfChoices.get(choices);
  if (known !== undefined) return known;
  const made = new Set(choices.map(uniqueKey));
  keysOfChoices.set(choices, made);
  return made;
}

function checkObject(schema: StructuralSchema, value: JsonObject, check: Check): void {
  const { properties, additionalProperties: more, object } = schema;
  const keys = Object.keys(value);
  const { path, budget } = check;
  spend(budget, FIELD_STEPS * keys.length);
  if (object !== undefined && !hasGoodSize(keys.length, object, check)) return;
  for (const key of keys) {
    const declared = properties.get(key);
    if (declared !== undefined) {
      const at = path === '' ? key : `${path}.${key}`;
      validateNode(declared, value[key], checkAt(check, at, previousField(check, key)));
    } else if (typeof more === 'object') {
      validateNode(more, value[key], checkAt(check, `${path}.${key}`, previousField(check, key)));
    } else if (more === false && key !== '$schema' && key !== 'id') {
      addPlainProblem(check, `${path}.${key} in body is a forbidden property`, key);
    }
  }
  for (const name of object?.required ?? []) {
    spend(budget, REQUIRED_STEPS);
    if (Object.hasOwn(value, name) || properties.get(name)?.default !== undefined) continue;
    spend(budget, MISSING_STEPS);
    const at = `${path}.${name}`;
    addDetailedProblem(check, `${at} in body is required`, () => requiredError(fieldOf(at)));
  }
}

/**
 * Cost of looking up the schema of a field, in steps. An alternative that does not declare the field costs as
 * much.
 */
const FIELD_STEPS = 2;

/** Cost of checking a required field, in steps. */
const REQUIRED_STEPS = 0.25;
const MISSING_STEPS = 3;

/** Fields are not validated where their number is wrong. */
function hasGoodSize(
  size: number,
  { minProperties, maxProperties }: { minProperties: number | undefined; maxProperties: number | undefined },
  check: Check,
): boolean {
  if (minProperties !== undefined && size < minProperties) {
    addPlainProblem(
      check,
      `${check.path} in body should have at least ${String(minProperties)} properties`,
      minProperties,
    );
    return false;
  }
  if (maxProperties !== undefined && size > maxProperties) {
    addPlainProblem(
      check,
      `${check.path} in body should have at most ${String(maxProperties)} properties`,
      maxProperties,
    );
    return false;
  }
  return true;
}

/** In upstream's order: anyOf, oneOf, allOf, not. Of several failed alternatives the nearest is reported. */
function checkJunctors({ anyOf, oneOf, allOf, not }: Junctors, value: unknown, check: Check): void {
  if (anyOf.length > 0) checkAnyOf(anyOf, value, check);
  if (oneOf.length > 0) checkOneOf(oneOf, value, check);
  if (allOf.length > 0) checkAllOf(allOf, value, check);
  if (not !== undefined && outcomeOf(not, value, check).problems.size === 0) {
    reportJunctor(check, 'must not validate the schema (not)');
  }
}

function checkAnyOf(schemas: readonly StructuralSchema[], value: unknown, check: Check): void {
  let nearest: Outcome | undefined;
  for (const schema of schemas) {
    const outcome = outcomeOf(schema, value, check);
    if (outcome.problems.size === 0) {
      mergeOutcome(check.outcome, outcome);
      return;
    }
    if (nearest === undefined || outcome.matches > nearest.matches) nearest = outcome;
  }
  reportJunctor(check, 'must validate at least one schema (anyOf)');
  if (nearest !== undefined) mergeOutcome(check.outcome, nearest);
}

function checkOneOf(schemas: readonly StructuralSchema[], value: unknown, check: Check): void {
  let nearest: Outcome | undefined;
  let first: Outcome | undefined;
  let valid = 0;
  for (const schema of schemas) {
    const outcome = outcomeOf(schema, value, check);
    if (outcome.problems.size === 0) {
      valid += 1;
      first ??= outcome;
    } else if (nearest === undefined || outcome.matches > nearest.matches) nearest = outcome;
  }
  if (valid === 1 && first !== undefined) {
    mergeOutcome(check.outcome, first);
    return;
  }
  const found = valid === 0 ? 'Found none valid' : `Found ${String(valid)} valid alternatives`;
  reportJunctor(check, `must validate one and only one schema (oneOf). ${found}`);
  if (valid === 0 && nearest !== undefined) mergeOutcome(check.outcome, nearest);
}

function checkAllOf(schemas: readonly StructuralSchema[], value: unknown, check: Check): void {
  let valid = 0;
  for (const schema of schemas) {
    const outcome = outcomeOf(schema, value, check);
    if (outcome.problems.size === 0) valid += 1;
    mergeOutcome(check.outcome, outcome);
  }
  if (valid === schemas.length) return;
  reportJunctor(check, `must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
}

function outcomeOf(schema: StructuralSchema, value: unknown, check: Check): Outcome {
  const outcome = createOutcome();
  validateNode(schema, value, { ...check, outcome });
  spend(check.budget, ALTERNATIVE_STEPS * (1 + outcome.problems.size));
  return outcome;
}

/** Cost of an alternative, and of a problem that may be discarded, in steps. */
const ALTERNATIVE_STEPS = 5;

/** As upstream, these errors have no field and quote the path. */
function reportJunctor(check: Check, text: string): void {
  const message = `"${check.path}" ${text}`;
  addDetailedProblem(check, message, () => goError('FieldValueInvalid', fieldOf(''), '', message));
}
