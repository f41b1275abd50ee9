import type { Checked } from '../check/checker';
import type { Call, Expr, Ident, ListLiteral, MapLiteral, Select, StructLiteral } from '../parser/ast';
import type { FunctionDeclaration, Overload } from '../check/declarations';
import { COST } from '../cost/constants';
import { planCall } from './plan-call';
import { planFold } from './plan-fold';
import type { Frame } from './frame';
import { constantPlan, isConstant } from './plan';
import type { Local, Plan, PlanContext } from './plan';
import { hasField, indexInto, optionalLookup, selectField } from './select';
import {
  ArrayList,
  EntryMap,
  EvalError,
  MapValue,
  NO_OVERLOAD,
  OptionalValue,
  StructValue,
  TypeValue,
  mapKeyOf,
} from './values';
import type { MapKey, Result, Value } from './values';

/**
 * Plans a checked expression once, so that evaluating it neither parses nor resolves anything. Parts without variables are folded as
 * upstream folds them (cel-go: `OptOptimize`), because folded parts cost nothing.
 *
 * @throws PlanError for constants that have no value
 */
export function plan(checked: Checked, functions: ReadonlyMap<string, FunctionDeclaration>): Plan {
  return new Planner(checked, functions).plan(checked.expr);
}

class Planner implements PlanContext {
  readonly #checked: Checked;
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly #locals = new Map<string, Local[]>();
  #slots = 0;

  constructor(checked: Checked, functions: ReadonlyMap<string, FunctionDeclaration>) {
    this.#checked = checked;
    this.functions = functions;
  }

  overloadsOf(call: Call): readonly Overload[] {
    return this.#checked.references.get(call.id)?.overloads ?? [];
  }

  newSlot(): number {
    this.#slots += 1;
    return this.#slots - 1;
  }

  withLocal(name: string, local: Local, run: () => Plan): Plan {
    const stack = this.#locals.get(name) ?? [];
    this.#locals.set(name, stack);
    stack.push(local);
    try {
      return run();
    } finally {
      stack.pop();
    }
  }

  /**
   * Plans an expression.
   *
   * @param isFree whether the unit that a variable with its selections costs is not counted, because upstream resolves it without
   *   observing it: in the branches of a conditional, in an index and in `has()`
   */
  plan(expr: Expr, isFree = false): Plan {
    switch (expr.kind) {
      case 'literal':
        return constantPlan(expr.value);
      case 'ident':
        return this.#ident(expr, isFree);
      case 'select':
        return this.#select(expr, isFree);
      case 'call':
        return this.#call(expr, isFree);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'comprehension':
        return planFold(this, expr);
      case 'struct':
      default:
        return this.#struct(expr);
    }
  }

  #ident(expr: Ident, isFree: boolean): Plan {
    const units = isFree ? 0 : COST.selectOrIdent;
    const local = this.#locals.get(expr.name)?.at(-1);
    if (local !== undefined) return planLocal(local, units);
    const reference = this.#checked.references.get(expr.id)?.variable;
    if (reference?.value !== undefined) return constantPlan(reference.value);
    if (reference?.type.kind === 'type')
      return constantPlan(new TypeValue(reference.type.params[0] ?? reference.type));
    const name = reference?.name ?? expr.name;
    return (frame) => {
      frame.charge(units);
      const value = frame.variables(name);
      return value === undefined ? new EvalError(`no such attribute(s): ${name}`) : value;
    };
  }

  /** Plans the operand of a selection or an index; one that is no variable costs a unit of its own. */
  #operand(operand: Expr, isFree: boolean): Plan {
    if (isAttribute(operand)) return this.plan(operand, isFree);
    const inner = this.plan(operand);
    if (isFree) return inner;
    return (frame) => {
      const value = inner(frame);
      frame.charge(COST.selectOrIdent);
      return value;
    };
  }

  #select({ operand, field, isTest }: Select, isFree: boolean): Plan {
    const inner = this.#operand(operand, isTest || isFree);
    if (isTest) {
      // Upstream takes back a unit for the presence test that it never counted for a conditional.
      const units = operand.kind === 'call' && operand.name === '_?_:_' ? 0 : COST.selectOrIdent;
      return (frame) => {
        const value = inner(frame);
        if (value instanceof EvalError) return value;
        frame.charge(units);
        return hasField(value, field);
      };
    }
    return (frame) => {
      const value = inner(frame);
      if (value instanceof EvalError) return value;
      if (value instanceof MapValue) {
        frame.charge(COST.selectOrIdent);
        const found = value.resolve(field);
        return found === undefined ? new EvalError(`no such key: ${field}`) : found;
      }
      const found = selectField(value, field);
      if (!(found instanceof OptionalValue) || found.value !== undefined) frame.charge(COST.selectOrIdent);
      return found;
    };
  }

  #call(expr: Call, isFree: boolean): Plan {
    const [first, second, third] = expr.args;
    switch (expr.name) {
      case '_?_:_':
        return first && second && third ? this.#conditional([first, second, third]) : planCall(this, expr);
      case '_[_]':
        return first && second ? this.#index([first, second], isFree, false) : planCall(this, expr);
      case '_?._':
      case '_[?_]':
        return first && second ? this.#index([first, second], isFree, true) : planCall(this, expr);
      default:
        return planCall(this, expr);
    }
  }

  #conditional([condition, ifTrue, ifFalse]: readonly [Expr, Expr, Expr]): Plan {
    const test = this.plan(condition);
    const yes = this.plan(ifTrue, true);
    const no = this.plan(ifFalse, true);
    return (frame) => {
      const value = test(frame);
      if (value === true) return yes(frame);
      if (value === false) return no(frame);
      return value instanceof EvalError ? value : NO_OVERLOAD;
    };
  }

  #index([operand, index]: readonly [Expr, Expr], isFree: boolean, isOptional: boolean): Plan {
    const container = this.#operand(operand, isFree);
    const key = this.plan(index, true);
    return (frame) => {
      const value = container(frame);
      if (value instanceof EvalError) return value;
      const position = key(frame);
      if (position instanceof EvalError) return position;
      if (isOptional || value instanceof OptionalValue) {
        const found = optionalLookup(value, position);
        if (!(found instanceof OptionalValue) || found.value !== undefined) frame.charge(COST.selectOrIdent);
        return found;
      }
      frame.charge(COST.selectOrIdent);
      return indexInto(value, position);
    };
  }

  #list(expr: ListLiteral): Plan {
    const elements = expr.elements.map((element) => this.plan(element));
    const { optional } = expr;
    const build: Plan = (frame) => {
      const items: Value[] = [];
      for (const [index, element] of elements.entries()) {
        const value = element(frame);
        if (value instanceof EvalError) return value;
        const item = optional.has(index) ? contentOf(value) : value;
        if (item instanceof EvalError) return item;
        if (item !== undefined) items.push(item);
      }
      return new ArrayList(items);
    };
    return foldConstant(elements, build, COST.createList);
  }

  #map(expr: MapLiteral): Plan {
    const entries = expr.entries.map(({ key, value, isOptional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      isOptional,
    }));
    const build: Plan = (frame) => {
      const result = new Map<MapKey, readonly [Value, Value]>();
      for (const { key, value, isOptional } of entries) {
        const problem = addEntry(result, [key(frame), value(frame)], isOptional);
        if (problem !== undefined) return problem;
      }
      return new EntryMap(result);
    };
    return foldConstant(
      entries.flatMap(({ key, value }) => [key, value]),
      build,
      COST.createMap,
    );
  }

  #struct({ typeName, fields }: StructLiteral): Plan {
    const planned = fields.map((field) => ({ ...field, value: this.plan(field.value) }));
    return (frame) => {
      const values = new Map<string, Value>();
      for (const { name, value, isOptional } of planned) {
        const made = value(frame);
        if (made instanceof EvalError) return made;
        const content = isOptional ? contentOf(made) : made;
        if (content instanceof EvalError) return content;
        if (content !== undefined) values.set(name, content);
      }
      frame.charge(COST.createStruct);
      return new StructValue(typeName, values);
    };
  }
}

function planLocal({ slot, initial }: Local, units: number): Plan {
  if (initial === undefined) {
    return (frame) => {
      frame.charge(units);
      const value = frame.locals[slot];
      return value === undefined ? NO_OVERLOAD : value;
    };
  }
  return (frame) => {
    frame.charge(units);
    const value = frame.locals[slot];
    if (value !== undefined) return value;
    const made = initial(frame);
    frame.locals[slot] = made;
    return made;
  };
}

/** Whether upstream plans an expression as an attribute: something that selections add to without a cost of its own. */
function isAttribute(expr: Expr): boolean {
  if (expr.kind === 'ident' || expr.kind === 'select') return true;
  return expr.kind === 'call' && ['_?_:_', '_[_]', '_?._', '_[?_]'].includes(expr.name);
}

/** The content of an element written with `?`: undefined when it is absent. */
function contentOf(value: Value): Value | undefined | EvalError {
  return value instanceof OptionalValue
    ? value.value
    : new EvalError('cannot initialize optional entry from non-optional value');
}

/** Adds an entry of a literal, or returns what is wrong with it. */
function addEntry(
  into: Map<MapKey, readonly [Value, Value]>,
  [key, value]: readonly [Result, Result],
  isOptional: boolean,
): EvalError | undefined {
  if (key instanceof EvalError) return key;
  if (value instanceof EvalError) return value;
  const content = isOptional ? contentOf(value) : value;
  if (content instanceof EvalError) return content;
  if (content === undefined) return undefined;
  const name = mapKeyOf(key);
  if (name === undefined || typeof key === 'number') return new EvalError(`unsupported key type`);
  if (into.has(name)) return new EvalError(`Failed with repeated key`);
  into.set(name, [key, content]);
  return undefined;
}

/** Builds a literal of constants when it is planned; a literal with other parts costs its units each time. */
function foldConstant(parts: readonly Plan[], build: Plan, units: number): Plan {
  if (parts.every(isConstant)) {
    const value = build(NO_FRAME);
    if (!(value instanceof EvalError)) return constantPlan(value);
  }
  return (frame) => {
    const value = build(frame);
    frame.charge(units);
    return value;
  };
}

/** Constants read nothing of a frame. */
const NO_FRAME = Object.freeze({}) as Frame;
