import { CostLimitExceeded } from '../eval/frame';
import type { CostHook, Variables } from '../eval/frame';
import { EvalError, OptionalValue } from '../eval/values';
import type { Result, Value } from '../eval/values';
import type { Evaluation, Program } from '../environment';
import type { CompiledRule } from './compiled-rules';
import { dataValue, isSameJson } from './data-values';
import type { ValidationRule } from './data-types';
import type { RuleNode } from './rule-tree';

/** The most that one evaluation may cost, in upstream's units (k8s.io/apiserver `apis/cel/config.go`). */
export const CALL_COST_MAX = 1_000_000;
/** The most that all rules of one object may cost together. */
export const OBJECT_COST_MAX = 10_000_000;
/** The longest message that an expression may make. */
const MESSAGE_BYTES_MAX = 5 * 1024;

/** Field error types of upstream. */
export type RuleProblemReason =
  | 'FieldValueInvalid'
  | 'FieldValueForbidden'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'InternalError';

/** What a rule found. */
export interface RuleProblem {
  readonly reason: RuleProblemReason;
  readonly field: string;
  /** The value to show; undefined for objects and lists, which are left out or shown by their type. */
  readonly value: unknown;
  readonly detail: string;
  /** Whether it only warns, because nothing that the rule looks at was changed. */
  readonly isWarning: boolean;
}

export interface RuleEvaluation {
  /** Called while rules run, with what they have cost so far; it may throw. */
  readonly onCost?: CostHook | undefined;
}

/** What is known of the previous state of a value: whether it or what contains it was left unchanged. */
interface Previous {
  /** Undefined if no previous value corresponds to this one. */
  readonly value: unknown;
  /** Whether a part that contains this value is unchanged as a whole. */
  readonly isWithinUnchanged: () => boolean;
}

/** A new value within a new value. */
const NO_PREVIOUS: Previous = { value: undefined, isWithinUnchanged: () => false };

/**
 * Evaluates all rules of an object, in upstream's order (k8s.io/apiextensions-apiserver `schema/cel/validation.go`).
 *
 * @param previous the stored object on an update; undefined on a create
 */
export function evaluateRules(
  tree: RuleNode,
  object: unknown,
  previous: unknown,
  { onCost }: RuleEvaluation = {},
): RuleProblem[] {
  const run = new RuleRun(onCost);
  run.visit(tree, '', object, previous === undefined ? NO_PREVIOUS : { ...NO_PREVIOUS, value: previous });
  return run.problems;
}

class RuleRun {
  readonly problems: RuleProblem[] = [];
  readonly #onCost: CostHook | undefined;
  /** What is left; negative when nothing more may be evaluated. */
  #budget = OBJECT_COST_MAX;

  constructor(onCost: CostHook | undefined) {
    this.#onCost = onCost;
  }

  visit(node: RuleNode, field: string, value: unknown, previous: Previous): void {
    if (value === null || value === undefined) return;
    this.#evaluate(node, field, value, previous);
    if (this.#budget < 0) return;
    if (Array.isArray(value)) this.#visitItems(node, field, value, previous);
    else if (typeof value === 'object')
      this.#visitFields(node, field, value as Record<string, unknown>, previous);
  }

  #visitItems(node: RuleNode, field: string, items: readonly unknown[], previous: Previous): void {
    const { element } = node;
    if (element === undefined) return;
    const isWithinUnchanged = unchanged(items, previous);
    const counterpartOf = previous === NO_PREVIOUS ? undefined : counterparts(node, previous.value);
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index];
      const before = counterpartOf && { value: counterpartOf(item), isWithinUnchanged };
      this.visit(element, `${field}[${String(index)}]`, item, before ?? NO_PREVIOUS);
      if (this.#budget < 0) return;
    }
  }

  #visitFields(node: RuleNode, field: string, object: Record<string, unknown>, previous: Previous): void {
    const { properties, element } = node;
    if (element === undefined && properties.size === 0) return;
    const isWithinUnchanged = unchanged(object, previous);
    const before = isRecord(previous.value) ? previous.value : {};
    for (const name of Object.keys(object)) {
      const property = properties.get(name);
      const child = property ?? element;
      if (child === undefined) continue;
      const path = property === undefined ? `${field}[${name}]` : joinField(field, name);
      const value = Object.hasOwn(before, name) ? before[name] : undefined;
      const old = previous === NO_PREVIOUS ? previous : { value, isWithinUnchanged };
      this.visit(child, path, object[name], old);
      if (this.#budget < 0) return;
    }
  }

  #evaluate({ rules, data, schemaType }: RuleNode, field: string, value: unknown, previous: Previous): void {
    if (rules === undefined || rules.count === 0 || data === undefined) return;
    if (this.#budget <= 0) {
      this.#stop({ field, schemaType, value }, OUT_OF_BUDGET);
      return;
    }
    const self = dataValue(value, data);
    const before = previous.value ?? undefined;
    const oldSelf = before === undefined ? undefined : dataValue(before, data);
    const place = { field, schemaType, value };
    for (const compiled of rules.all()) {
      if (compiled.error !== undefined)
        this.#add({ ...place, value: schemaType }, `rule compile error: ${compiled.error}`);
      this.#evaluateRule(compiled, place, { self, oldSelf, previous });
      if (this.#budget < 0) return;
    }
  }

  #evaluateRule(
    compiled: CompiledRule,
    place: Place,
    { self, oldSelf, previous }: { self: Value; oldSelf: Value | undefined; previous: Previous },
  ): void {
    const { program, rule, usesOldSelf } = compiled;
    const isOptional = rule.optionalOldSelf === true;
    if (program === undefined || (usesOldSelf && oldSelf === undefined && !isOptional)) return;
    const old = isOptional ? new OptionalValue(oldSelf) : oldSelf;
    const { result, cost, isOverLimit } = this.#run(program, variablesOf(self, old));
    if (this.#exceeds(cost)) {
      this.#stop(place, OUT_OF_BUDGET);
      return;
    }
    this.#budget -= cost;
    if (result === true) return;
    if (isOverLimit === true) {
      const why = 'no further validation rules will be run due to call cost exceeds limit for rule';
      this.#stop(place, `'${COST_EXCEEDED}': ${why}: ${textOf(rule)}`);
    } else if (result instanceof EvalError) {
      this.#add({ ...place, value: place.schemaType }, failedEvaluation(result, rule));
    } else {
      const isUnchanged = !usesOldSelf && isRatcheted(place.value, previous);
      this.#fail(compiled, place, { variables: variablesOf(self, oldSelf), isUnchanged });
    }
  }

  /** Evaluates a program within the limit of one call. */
  #run(program: Program, variables: Variables): Evaluation & { readonly isOverLimit?: boolean } {
    const spent = OBJECT_COST_MAX - this.#budget;
    const onCost = this.#onCost;
    try {
      return program.evaluate({
        variables,
        costMax: CALL_COST_MAX,
        onCost: onCost === undefined ? undefined : (cost) => onCost(spent + cost),
      });
    } catch (error) {
      if (!(error instanceof CostLimitExceeded)) throw error;
      const { cost, work } = error;
      return { result: new EvalError(error.message), cost, work, isOverLimit: true };
    }
  }

  #exceeds(cost: number): boolean {
    return cost > this.#budget;
  }

  #fail(compiled: CompiledRule, place: Place, context: { variables: Variables; isUnchanged: boolean }): void {
    const { rule } = compiled;
    const field = compiled.fieldPath === '' ? place.field : joinField(place.field, compiled.fieldPath);
    const at = { ...place, field };
    let detail = messageOf(rule);
    if (compiled.message !== undefined) {
      const made = this.#message(compiled.message, rule, context.variables);
      if (made.problem !== undefined) {
        this.#add({ ...at, value: place.schemaType }, made.problem, context.isUnchanged);
        this.#budget = -1;
        return;
      }
      detail = made.text ?? detail;
    }
    const shown = place.schemaType === 'object' || place.schemaType === 'array' ? undefined : place.value;
    this.problems.push({
      reason: REASONS.get(rule.reason ?? '') ?? 'FieldValueInvalid',
      field,
      value: shown,
      detail,
      isWarning: context.isUnchanged,
    });
  }

  /** Evaluates a message; a problem ends the evaluation of all rules, and without a text the fixed message is used. */
  #message(
    program: Program,
    rule: ValidationRule,
    variables: Variables,
  ): { text?: string; problem?: string } {
    const { result, cost, isOverLimit } = this.#run(program, variables);
    if (this.#exceeds(cost)) {
      return {
        problem:
          'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
      };
    }
    if (isOverLimit === true) {
      const source = JSON.stringify(rule.messageExpression);
      return {
        problem: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}`,
      };
    }
    this.#budget -= cost;
    const text = typeof result === 'string' ? result.trim() : '';
    return text === '' || text.includes('\n') || Buffer.byteLength(text) > MESSAGE_BYTES_MAX ? {} : { text };
  }

  #add({ field, value }: Place, detail: string, isWarning = false): void {
    this.problems.push({ reason: 'FieldValueInvalid', field, value, detail, isWarning });
  }

  #stop(place: Place, detail: string): void {
    this.#add({ ...place, value: place.schemaType }, detail);
    this.#budget = -1;
  }
}

interface Place {
  readonly field: string;
  readonly schemaType: string;
  readonly value: unknown;
}

const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run';
const COST_EXCEEDED = 'operation cancelled: actual cost limit exceeded';

const REASONS = new Map<string, RuleProblemReason>([
  ['FieldValueForbidden', 'FieldValueForbidden'],
  ['FieldValueRequired', 'FieldValueRequired'],
  ['FieldValueDuplicate', 'FieldValueDuplicate'],
  ['FieldValueInvalid', 'FieldValueInvalid'],
]);

function variablesOf(self: Value, oldSelf: Value | undefined): (name: string) => Result | undefined {
  return (name) => (name === 'self' ? self : name === 'oldSelf' ? oldSelf : undefined);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function joinField(field: string, name: string): string {
  return field === '' || name.startsWith('[') ? `${field}${name}` : `${field}.${name}`;
}

/**
 * Returns how to find the previous value of an item of a list; the found value is undefined where there is none. Items correlate in keyed lists
 * only: with the first item that has the same keys, which are scalars.
 */
export function counterparts(
  { listType, listMapKeys }: Pick<RuleNode, 'listType' | 'listMapKeys'>,
  previous: unknown,
): (item: unknown) => unknown {
  if (listType !== 'map' || !Array.isArray(previous)) return () => undefined;
  const keysOf = (item: unknown): string | undefined => {
    if (!isRecord(item) || listMapKeys.some((key) => (item[key] ?? undefined) === undefined))
      return undefined;
    return listMapKeys.map((key) => scalarText(item[key])).join(',');
  };
  const byKeys = new Map<string | undefined, unknown>();
  for (const item of previous.toReversed() as unknown[]) byKeys.set(keysOf(item), item);
  byKeys.delete(undefined);
  return (item) => byKeys.get(keysOf(item));
}

function scalarText(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

function unchanged(value: unknown, previous: Previous): () => boolean {
  let known: boolean | undefined;
  return () => (known ??= isRatcheted(value, previous));
}

/** Whether a value, or what contains it when it has no counterpart, equals what it was. */
function isRatcheted(value: unknown, { value: before, isWithinUnchanged }: Previous): boolean {
  return before === undefined ? isWithinUnchanged() : isSameJson(value, before);
}

function textOf({ rule, message = '' }: ValidationRule): string {
  return (message === '' ? rule : message).trim();
}

function messageOf(rule: ValidationRule): string {
  const { message = '' } = rule;
  return message === '' ? `failed rule: ${textOf(rule)}` : message.trim();
}

function failedEvaluation(error: EvalError, rule: ValidationRule): string {
  if (error.message.startsWith('no such overload')) {
    const why = 'call arguments did not match a supported operator, function or macro signature for rule';
    return `'${error.message}': ${why}: ${textOf(rule)}`;
  }
  return `${error.message} evaluating rule: ${textOf(rule)}`;
}
