import type { FunctionDeclaration, Overload } from '../check/declarations';
import type { Call, Expr } from '../parser/ast';
import type { Frame } from './frame';
import type { Result, Value } from './values';

/** A planned expression: evaluates its part and adds the cost. */
export type Plan = (frame: Frame) => Result;

/** A plan that always returns the same value; the planner folds it into its parents. */
export interface ConstantPlan extends Plan {
  readonly constant: Value;
}

export function constantPlan(constant: Value): ConstantPlan {
  return Object.assign(() => constant, { constant });
}

export function isConstant(plan: Plan): plan is ConstantPlan {
  return 'constant' in plan;
}

/** Thrown for an expression that cannot be planned, such as one with an invalid constant pattern. */
export class PlanError extends Error {}

/** Where a local variable is kept, and how its value is made when it is first needed. */
export interface Local {
  readonly slot: number;
  readonly initial?: Plan;
}

/** What the plans of calls and comprehensions need of the planner. */
export interface PlanContext {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  /** Plans a part; `isFree` is explained in `Planner`. */
  readonly plan: (expr: Expr, isFree?: boolean) => Plan;
  /** The signatures that the checker chose for a call. */
  readonly overloadsOf: (call: Call) => readonly Overload[];
  readonly newSlot: () => number;
  /** Plans a part in which a name is a local variable. */
  readonly withLocal: (name: string, local: Local, run: () => Plan) => Plan;
}
