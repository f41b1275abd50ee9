import { isInForce } from '../api/changes';
import { counterparts } from '../cel/schema/evaluate-rules';
import type { FieldError } from '../errors/field-error';
import type { JsonObject } from '../object/clone';
import { isJsonObject } from '../object/clone';
import type { Budget } from './budget';
import { createBudget, isSpent, KEY_CHARS_PER_STEP, spend, TEXT_CHARS_PER_STEP } from './budget';
import type { Check, Outcome, Previous } from './outcome';
import {
  createOutcome,
  enumError,
  addDetailedProblem,
  fieldOf,
  goError,
  mergeOutcome,
  PROBLEMS_MAX,
  addPlainProblem,
  addSizeProblem,
  requiredError,
  budgetExceeded,
} from './outcome';
import { checkLength, checkNumber, checkText } from './scalar-checks';
import type { Junctors, StructuralSchema } from './structural-schema';
import { checkType } from './type-check';
import { uniqueKey } from './unique-key';

export interface ValidationOptions {
  /** Precedes the field of each error (`spec.versions[0].…default`). */
  readonly prefix?: string;
  /** When it is exhausted, validation stops with an error that says so. */
  readonly budget?: Budget;
  /** The stored object of an update: errors of parts that equal it are left out (k8s.io/apiextensions-apiserver `ratcheting.go`). */
  readonly previous?: JsonObject | undefined;
}

/** Validates a value against the keywords of its schema, with the messages of upstream. */
export function validateValues(
  schema: StructuralSchema,
  value: unknown,
  { prefix = '', budget = createBudget(), previous }: ValidationOptions = {},
): readonly FieldError[] {
  const outcome = createOutcome();
  const before = previous === undefined ? undefined : { schema, value: previous };
  validateNode(schema, value, { path: '', outcome, budget, previous: before });
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
  if (isSpent(budget) || outcome.problems.size >= PROBLEMS_MAX) return;
  const known = outcome.problems.size;
  spend(budget, 1);
  checkType(schema, value, check);
  if (value !== null && value !== undefined) {
    outcome.matches += MATCHES_OF_ANY;
    if (schema.junctors !== undefined) checkJunctors(schema.junctors, value, check);
    checkKind(schema, value, check);
  }
  if (schema.choices !== undefined) checkChoices(schema.choices, value, check);
  if (previous !== undefined && outcome.problems.size > known && isSame(value, previous.value, budget))
    dropProblems(outcome, known);
}

/** Keeps the first `known` problems alone. */
function dropProblems({ problems }: Outcome, known: number): void {
  for (const message of [...problems.keys()].slice(known)) problems.delete(message);
}

function isSame(a: unknown, b: unknown, budget: Budget): boolean {
  spend(budget, COMPARISON_STEPS);
  if (isSpent(budget)) return false;
  if (a === b) return true;
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) && a.length === b.length && a.every((each, index) => isSame(each, b[index], budget))
    );
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name], budget));
}

/** Cost of comparing a value with its previous one, in steps. */
const COMPARISON_STEPS = 0.25;

/** Returns the previous value of a field; undefined where the stored object has none, or the schema does not know the field. */
function previousField({ previous, path }: Check, key: string): Previous | undefined {
  if (previous === undefined || !isJsonObject(previous.value) || !Object.hasOwn(previous.value, key))
    return undefined;
  // Both objects were converted to the version of the request.
  if (path === '' && (key === 'apiVersion' || key === 'kind')) return undefined;
  const { properties, additionalProperties: more } = previous.schema;
  const schema = properties.get(key) ?? (typeof more === 'object' ? more : undefined);
  return schema === undefined ? undefined : { schema, value: previous.value[key] };
}

/** Returns how to find the previous value of an item: those of keyed lists have one. */
function previousItems({ previous }: Check): ((item: unknown) => Previous | undefined) | undefined {
  const schema = previous?.schema.items;
  if (previous === undefined || schema === undefined) return undefined;
  const counterpartOf = counterparts(previous.schema, previous.value);
  return (item) => {
    const value = counterpartOf(item);
    return value === undefined ? undefined : { schema, value };
  };
}

/** Releases without indices call all items of a list alike, and report one of them. */
const HAS_INDICES = isInForce('indicesOfItems');

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
  const { path, outcome, budget } = check;
  if (items !== undefined) {
    const previousOf = previousItems(check);
    for (const [index, each] of value.entries()) {
      const at = HAS_INDICES ? `${path}[${String(index)}]` : path;
      validateNode(items, each, { path: at, outcome, budget, previous: previousOf?.(each) });
      if (isSpent(budget)) return;
    }
  }
  if (list === undefined) return;
  checkLength(value.length, { min: list.minItems, max: list.maxItems }, check);
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
  const { path, outcome, budget } = check;
  spend(budget, FIELD_STEPS * keys.length);
  if (object !== undefined && !hasGoodSize(keys.length, object, check)) return;
  for (const key of keys) {
    const declared = properties.get(key);
    if (declared !== undefined) {
      const at = path === '' ? key : `${path}.${key}`;
      validateNode(declared, value[key], { path: at, outcome, budget, previous: previousField(check, key) });
    } else if (typeof more === 'object') {
      const at = `${path}.${key}`;
      validateNode(more, value[key], { path: at, outcome, budget, previous: previousField(check, key) });
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
    addSizeProblem(check, size, maxProperties, 'properties');
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
  const { budget } = check;
  const outcome = createOutcome();
  validateNode(schema, value, { ...check, outcome });
  spend(budget, ALTERNATIVE_STEPS * (1 + outcome.problems.size));
  return outcome;
}

/** Cost of an alternative, and of a problem that may be discarded, in steps. */
const ALTERNATIVE_STEPS = 5;

/** As upstream, these errors have no field and quote the path. */
function reportJunctor(check: Check, text: string): void {
  const message = `"${check.path}" ${text}`;
  addDetailedProblem(check, message, () => goError('FieldValueInvalid', fieldOf(''), '', message));
}
