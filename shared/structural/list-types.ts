import type { FieldError } from '../errors/field-error';
import type { JsonObject } from '../object/clone';
import { getOwn, isJsonObject } from '../object/clone';
import type { Budget } from './budget';
import { createBudget, isSpent, KEY_CHARS_PER_STEP, spend } from './budget';
import { goError, PROBLEMS_MAX, budgetExceeded } from './outcome';
import type { StructuralSchema } from './structural-schema';
import { uniqueKey } from './unique-key';

/** Reports duplicate items of sets and keyed lists, each value once, at its second item. */
export function validateListTypes(
  schema: StructuralSchema,
  object: JsonObject,
  budget: Budget = createBudget(),
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (schema.hasUniqueLists) walkObject(schema, object, { path: '', errors, budget });
  if (isSpent(budget)) errors.push(budgetExceeded());
  return errors;
}

interface Place {
  readonly path: string;
  readonly errors: FieldError[];
  readonly budget: Budget;
}

function walkObject(schema: StructuralSchema, object: JsonObject, { path, errors, budget }: Place): void {
  const more = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  for (const key of Object.keys(object)) {
    const value = object[key];
    // Upstream checks both, even for a declared key.
    if (more?.hasUniqueLists === true) walk(more, value, { path: `${path}[${key}]`, errors, budget });
    const declared = schema.properties.get(key);
    if (declared?.hasUniqueLists !== true) continue;
    walk(declared, value, { path: path === '' ? key : `${path}.${key}`, errors, budget });
  }
}

function walk(schema: StructuralSchema, value: unknown, place: Place): void {
  if (place.errors.length >= PROBLEMS_MAX || isSpent(place.budget)) return;
  if (Array.isArray(value)) walkList(schema, value, place);
  else if (isJsonObject(value)) walkObject(schema, value, place);
}

function walkList(schema: StructuralSchema, list: readonly unknown[], place: Place): void {
  const { path, errors, budget } = place;
  if (schema.listType === 'set') checkUnique(list, list, place);
  else if (schema.listType === 'map') checkKeyed(schema.listMapKeys, list, place);
  if (schema.items?.hasUniqueLists !== true) return;
  for (const [index, item] of list.entries()) {
    walk(schema.items, item, { path: `${path}[${String(index)}]`, errors, budget });
  }
}

function checkKeyed(keys: readonly string[], list: readonly unknown[], place: Place): void {
  const stranger = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (stranger !== -1) {
    const detail = 'must be an object for an array of list-type map';
    place.errors.push(
      goError('FieldValueInvalid', `${place.path}[${String(stranger)}]`, list[stranger], detail),
    );
    return;
  }
  spend(place.budget, KEY_STEPS * keys.length * list.length);
  if (isSpent(place.budget)) return;
  const shown = list.map((item) => keyOf(isJsonObject(item) ? item : {}, keys));
  checkUnique(shown, shown, place);
}

/** Cost of looking up one key of one item, in steps. */
const KEY_STEPS = 0.1;

/** Returns the keys of an item with their values. */
function keyOf(item: JsonObject, keys: readonly string[]): JsonObject {
  const given = keys.filter((key) => Object.hasOwn(item, key));
  return Object.fromEntries(given.map((key) => [key, getOwn(item, key)]));
}

function checkUnique(
  list: readonly unknown[],
  shown: readonly unknown[],
  { path, errors, budget }: Place,
): void {
  const times = new Map<unknown, number>();
  for (const [index, item] of list.entries()) {
    if (isSpent(budget)) return;
    const key = uniqueKey(item);
    spend(
      budget,
      typeof item === 'object' && typeof key === 'string' ? 1 + key.length / KEY_CHARS_PER_STEP : 1,
    );
    const before = times.get(key) ?? 0;
    times.set(key, before + 1);
    if (before !== 1 || errors.length >= PROBLEMS_MAX) continue;
    const error = goError('FieldValueDuplicate', `${path}[${String(index)}]`, shown[index]);
    spend(budget, error.message.length / KEY_CHARS_PER_STEP);
    errors.push(error);
  }
}
