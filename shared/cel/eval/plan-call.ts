import type { RE2JS } from 're2js';
import type { Implementation, Overload } from '../check/declarations';
import { DYN } from '../check/types';
import type { CelType } from '../check/types';
import type { Call } from '../parser/ast';
import { ONE_UNIT, runtimeCost } from '../cost/runtime';
import type { RuntimeCost } from '../cost/runtime';
import { compilePattern } from '../library/regular-expressions';
import { isEqual } from './equality';
import type { Frame } from './frame';
import { constantPlan, isConstant, PlanError } from './plan';
import type { ConstantPlan, Plan, PlanContext } from './plan';
import { EvalError, ListValue, NO_OVERLOAD, OptionalValue, mapKeyOf, typeOfValue } from './values';
import type { Result, Value } from './values';

/** Functions whose calls with a constant are folded (cel-go: `IsTypeConversionFunction`). */
const CONVERSIONS = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'type',
  'uint',
]);
/** Functions whose constant pattern is compiled with the expression. */
const PATTERN_FUNCTIONS = new Set(['matches', 'find', 'findAll']);

/** Plans a call of a function or an operator. */
export function planCall(planner: PlanContext, call: Call): Plan {
  const overloads = planner.overloadsOf(call);
  const overloadId = overloads.length === 1 ? (overloads[0]?.id ?? '') : '';
  const parts = call.target === undefined ? call.args : [call.target, ...call.args];
  const args = parts.map((part) => planner.plan(part));
  const special = planSpecial(call, overloadId, args);
  if (special !== undefined) return special;
  const pattern = PATTERN_FUNCTIONS.has(call.name) ? constantPattern(args[1]) : undefined;
  const run =
    pattern !== undefined && call.name === 'matches'
      ? matching(pattern)
      : dispatch(call.name, overloads, planner);
  const cost = runtimeCost(call.name, call.name === '_==_' ? 'equals' : overloadId);
  if (CONVERSIONS.has(call.name) && args.length === 1 && args.every(isConstant))
    return foldConversion(run, args);
  return strictPlan(args, { run, cost });
}

/** Operators that do not evaluate all of their arguments, or cost nothing. */
function planSpecial(call: Call, overloadId: string, args: readonly Plan[]): Plan | undefined {
  const [first, second] = args;
  if (first === undefined) return undefined;
  if (call.name === '@not_strictly_false') return planNotStrictlyFalse(first);
  if (second === undefined) return undefined;
  switch (call.name) {
    case '_&&_':
      return planLogical(first, second, false);
    case '_||_':
      return planLogical(first, second, true);
    case 'or':
    case 'orValue':
      return overloadId.startsWith('optional_or') ? planOptionalOr(first, second, call.name) : undefined;
    case '@in':
      return overloadId === 'in_list' && isConstant(second) ? planMembership(first, second) : undefined;
    default:
      return undefined;
  }
}

function planNotStrictlyFalse(argument: Plan): Plan {
  return (frame) => {
    const value = argument(frame);
    frame.charge(1);
    return typeof value === 'boolean' ? value : true;
  };
}

/** Evaluates `&&` or `||`: an operand equal to `decisive` decides, whatever the other one is, even an error. */
function planLogical(left: Plan, right: Plan, decisive: boolean): Plan {
  return (frame) => {
    const first = left(frame);
    if (first === decisive) return decisive;
    const second = right(frame);
    if (second === decisive) return decisive;
    if (typeof first !== 'boolean') return first instanceof EvalError ? first : NO_OVERLOAD;
    if (typeof second !== 'boolean') return second instanceof EvalError ? second : NO_OVERLOAD;
    return !decisive;
  };
}

function planOptionalOr(left: Plan, right: Plan, name: 'or' | 'orValue'): Plan {
  return (frame) => {
    const value = left(frame);
    if (value instanceof EvalError) return value;
    if (!(value instanceof OptionalValue)) return NO_OVERLOAD;
    if (value.value === undefined) return right(frame);
    return name === 'or' ? value : value.value;
  };
}

/** Looks an element up among constants; undefined when the list has elements that cannot be keys. */
function planMembership(element: Plan, { constant }: ConstantPlan): Plan | undefined {
  if (!(constant instanceof ListValue)) return undefined;
  if (constant.size === 0) return constantPlan(false);
  const keys = new Set<unknown>();
  for (const item of constant) {
    const key = mapKeyOf(item) ?? (typeof item === 'number' ? item : undefined);
    if (key === undefined) return undefined;
    keys.add(key);
  }
  return (frame) => {
    const value = element(frame);
    return value instanceof EvalError ? value : keys.has(mapKeyOf(value) ?? value);
  };
}

/** Compiles a constant pattern; undefined for one that is not constant. */
function constantPattern(argument: Plan | undefined): RE2JS | undefined {
  if (argument === undefined || !isConstant(argument) || typeof argument.constant !== 'string')
    return undefined;
  const compiled = compilePattern(argument.constant);
  if (compiled instanceof EvalError) throw new PlanError(compiled.message);
  return compiled;
}

/** A search with a constant pattern, which the expression keeps compiled however many patterns there are. */
function matching(pattern: RE2JS): Implementation {
  return (text) => (typeof text === 'string' ? pattern.test(text) : NO_OVERLOAD);
}

function foldConversion(run: Implementation, args: readonly ConstantPlan[]): Plan {
  const value = run(...args.map((arg) => arg.constant));
  if (value instanceof EvalError) throw new PlanError(value.message);
  return constantPlan(value);
}

/** A function with the costs of a call. */
interface Callee {
  readonly run: Implementation;
  readonly cost: RuntimeCost;
}

/** Evaluates all arguments, then the function; the first error of an argument is the result. */
function strictPlan(args: readonly Plan[], callee: Callee): Plan {
  const [first, second] = args;
  const isPlain = callee.cost.needsResult !== true && callee.cost.isAnswer !== true;
  if (first !== undefined && args.length === 1 && isPlain) return unaryPlan(first, callee);
  if (first !== undefined && second !== undefined && args.length === 2)
    return isPlain ? binaryPlan(first, second, callee) : specialBinaryPlan(first, second, callee);
  return (frame) => {
    const values: Value[] = [];
    for (const arg of args) {
      const value = arg(frame);
      if (value instanceof EvalError) {
        // Upstream counts a call with one argument that failed, and no call with several.
        if (args.length === 1) frame.charge(callee.cost(value, undefined, undefined));
        return value;
      }
      values.push(value);
    }
    return runCharged(frame, values, callee);
  };
}

function unaryPlan(argument: Plan, { run, cost }: Callee): Plan {
  if (cost !== ONE_UNIT) {
    return (frame) => {
      const value = argument(frame);
      frame.charge(cost(value, undefined, undefined));
      return value instanceof EvalError ? value : run(value);
    };
  }
  return (frame) => {
    const value = argument(frame);
    frame.charge(1);
    return value instanceof EvalError ? value : run(value);
  };
}

/** A call with two arguments; upstream counts it even if one of them failed. */
function binaryPlan(left: Plan, right: Plan, { run, cost }: Callee): Plan {
  const isOne = cost === ONE_UNIT;
  return (frame) => {
    const first = left(frame);
    const second = right(frame);
    frame.charge(isOne ? 1 : cost(first, second, undefined));
    if (first instanceof EvalError) return first;
    return second instanceof EvalError ? second : run(first, second);
  };
}

function specialBinaryPlan(left: Plan, right: Plan, callee: Callee): Plan {
  return (frame) => {
    const first = left(frame);
    const second = right(frame);
    if (first instanceof EvalError || second instanceof EvalError) {
      frame.charge(callee.cost(first, second, undefined));
      return first instanceof EvalError ? first : second;
    }
    return runCharged(frame, [first, second], callee);
  };
}

function runCharged(frame: Frame, values: Value[], { run, cost }: Callee): Result {
  const [first, second] = values;
  if (cost.needsResult === true) {
    const result = run(...values);
    frame.charge(cost(first, second, result));
    return result;
  }
  const units = cost(first, second, undefined);
  if (cost.isAnswer === true) frame.chargeAnswer(units);
  else frame.charge(units);
  return run(...values);
}

/** Returns what runs a function: its one signature, or the one that fits the values. */
function dispatch(name: string, chosen: readonly Overload[], planner: PlanContext): Implementation {
  if (name === '_==_') return (a = null, b = null) => isEqual(a, b);
  if (name === '_!=_') return (a = null, b = null) => !isEqual(a, b);
  const overloads = chosen.length > 0 ? chosen : (planner.functions.get(name)?.overloads ?? []);
  const [only] = overloads;
  const isOperator = !/^[a-zA-Z]/u.test(name);
  if (only !== undefined && overloads.length === 1) return isOperator ? only.run : named(name, only);
  return (...args) => {
    for (const overload of overloads) {
      if (
        overload.args.length === args.length &&
        overload.args.every((type, index) => accepts(type, args[index]))
      ) {
        return withName(name, args, overload.run(...args));
      }
    }
    return withName(name, args, NO_OVERLOAD);
  };
}

/** A function with one signature; an error that its arguments do not fit names the function. */
function named(name: string, { run, args: { length } }: Overload): Implementation {
  if (length === 1) {
    return (a = null) => {
      const result = run(a);
      return result === NO_OVERLOAD ? withName(name, [a], result) : result;
    };
  }
  if (length === 2) {
    return (a = null, b = null) => {
      const result = run(a, b);
      return result === NO_OVERLOAD ? withName(name, [a, b], result) : result;
    };
  }
  return (...args) => withName(name, args, run(...args));
}

function withName(name: string, args: readonly Value[], result: Result): Result {
  if (result !== NO_OVERLOAD || !/^[a-zA-Z]/u.test(name)) return result;
  const types = args.map((arg) => typeOfValue(arg).name).join(', ');
  return new EvalError(`no such overload: ${name}(${types})`);
}

/** Whether a value at run time fits the kind of a parameter. */
function accepts(type: CelType, value: Value | undefined): boolean {
  if (value === undefined) return false;
  if (type.kind === 'typeParam' || type.kind === 'dyn' || type.kind === 'any') return true;
  const [element = DYN] = type.params;
  if (value instanceof ListValue && type.kind === 'list')
    return value.size === 0 || accepts(element, value.at(0));
  const actual = typeOfValue(value);
  return type.kind === actual.kind && (type.kind !== 'opaque' || type.name === actual.name);
}
