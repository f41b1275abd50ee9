import { getOwn, isJsonObject } from '../object/clone';
import type { Filter, FilterOperator, Slice, Step } from './json-path-parser';

/**
 * Thrown when a path does not apply to an object: an index out of range, or a filter on a value that is no
 * list.
 */
export class JsonPathEvaluationError extends Error {}

/**
 * Remaining values that several paths through one object may visit together. A definition may have thousands
 * of columns.
 */
export interface Visits {
  left: number;
}

/** Takes about 50 ms. A union, or a filter inside another one, visits a value many times. */
const VISITS_MAX = 500_000;

export function createVisits(): Visits {
  return { left: VISITS_MAX };
}

/** Follows the steps from a value. Missing fields yield nothing. Throws JsonPathEvaluationError. */
export function evaluate(steps: readonly Step[], value: unknown, visits: Visits): readonly unknown[] {
  visit(visits, 1);
  return followAll(steps, [value], visits);
}

function visit(visits: Visits, count: number): void {
  visits.left -= count;
  if (visits.left < 0) throw new JsonPathEvaluationError('too many values');
}

/** Counts the values as visited and returns them, since one step can make many of few. */
function counted(values: readonly unknown[], visits: Visits): readonly unknown[] {
  visit(visits, values.length);
  return values;
}

function followAll(steps: readonly Step[], values: readonly unknown[], visits: Visits): readonly unknown[] {
  let current = values;
  for (const step of steps) {
    visit(visits, current.length);
    current = follow(step, current, visits);
  }
  return current;
}

function follow(step: Step, values: readonly unknown[], visits: Visits): readonly unknown[] {
  switch (step.kind) {
    case 'constant':
      return [step.value];
    case 'field':
      return values.flatMap((value) => fieldOf(value, step.name));
    case 'wildcard':
      return values.flatMap((value) => counted(childrenOf(value), visits));
    case 'recursive':
      return descendants(values, visits);
    case 'slice':
      return values.flatMap((value) => counted(slice(value, step.slice), visits));
    case 'union':
      return step.alternatives.flatMap((each) => counted(followAll(each, values, visits), visits));
    case 'filter':
      return values.flatMap((value) => filter(value, step.filter, visits));
    default:
      return step satisfies never;
  }
}

/** A field without a name is the object itself. */
function fieldOf(value: unknown, name: string): readonly unknown[] {
  if (name === '') return [value];
  if (!isJsonObject(value)) return [];
  const found = getOwn(value, name);
  return found === undefined ? [] : [found];
}

function childrenOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}

/** Returns the values and everything inside them, outer ones first. */
function descendants(values: readonly unknown[], visits: Visits): readonly unknown[] {
  const found: unknown[] = [];
  const pending = values.toReversed();
  while (pending.length > 0) {
    const value = pending.pop();
    found.push(value);
    const children = childrenOf(value);
    visit(visits, children.length);
    for (const each of children.toReversed()) {
      if (typeof each === 'object' && each !== null) pending.push(each);
    }
  }
  return found;
}

function slice(value: unknown, { start, end, step, isIndex }: Slice): readonly unknown[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw new JsonPathEvaluationError('not a list');
  const list: readonly unknown[] = value;
  const from = start < 0 ? start + list.length : start;
  const given = isIndex ? from + 1 : (end ?? list.length);
  const to = given < 0 ? given + list.length : given;
  if (from === to) return [];
  const isInside = from >= 0 && from < list.length && to >= 0 && to <= list.length && from < to;
  if (!isInside || step <= 0) throw new JsonPathEvaluationError('index out of bounds');
  return list.slice(from, to).filter((_, index) => index % step === 0);
}

function filter(value: unknown, { left, operator, right }: Filter, visits: Visits): readonly unknown[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw new JsonPathEvaluationError('not a list');
  return value.filter((item: unknown) => {
    visit(visits, 1);
    const lefts = followAll(left, [item], visits);
    if (operator === 'exists') return lefts.length > 0;
    const rights = followAll(right, [item], visits);
    if (lefts.length === 0 || rights.length === 0) return false;
    if (lefts.length > 1 || rights.length > 1) throw new JsonPathEvaluationError('more than one value');
    return compare(lefts[0], operator, rights[0]);
  });
}

function compare(left: unknown, operator: FilterOperator, right: unknown): boolean {
  if (operator === '==') return isSame(left, right);
  if (operator === '!=') return !isSame(left, right);
  const order = orderOf(left, right);
  if (operator === '<') return order < 0;
  if (operator === '<=') return order <= 0;
  return operator === '>' ? order > 0 : order >= 0;
}

function isSame(left: unknown, right: unknown): boolean {
  if (isNumber(left) && isNumber(right)) return Number(left) === Number(right);
  if (typeof left !== typeof right) throw new JsonPathEvaluationError('incompatible types');
  return left === right;
}

function orderOf(left: unknown, right: unknown): number {
  if (isNumber(left) && isNumber(right)) return Number(left) - Number(right);
  if (typeof left !== 'string' || typeof right !== 'string') {
    throw new JsonPathEvaluationError('incompatible types');
  }
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}
