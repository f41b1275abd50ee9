import type { Comprehension } from '../parser/ast';
import type { Plan, PlanContext } from './plan';
import { EvalError, ListValue, MapValue, mapKeyOf } from './values';
import type { Result, Value } from './values';

/** The planned parts of a comprehension with the slots of its variables. */
interface Fold {
  readonly range: Plan;
  readonly initial: Plan;
  readonly condition: Plan;
  readonly step: Plan;
  readonly result: Plan;
  readonly accumulator: number;
  readonly first: number;
  readonly second: number | undefined;
}

/** Plans a comprehension. Its variables get slots of their own, which nested comprehensions do not share. */
export function planFold(planner: PlanContext, expr: Comprehension): Plan {
  const range = planner.plan(expr.range);
  const initial = planner.plan(expr.initial);
  const accumulator = planner.newSlot();
  const first = planner.newSlot();
  const second = expr.variable2 === undefined ? undefined : planner.newSlot();
  // A fold over an empty list only binds a name, whose value is made when it is first needed.
  const isBind = expr.range.kind === 'list' && expr.range.elements.length === 0;
  const local = isBind ? { slot: accumulator, initial } : { slot: accumulator };
  return planner.withLocal(expr.accumulator, local, () => {
    const inner = (run: () => Plan): Plan =>
      planner.withLocal(expr.variable, { slot: first }, () =>
        expr.variable2 === undefined || second === undefined
          ? run()
          : planner.withLocal(expr.variable2, { slot: second }, run),
      );
    const condition = inner(() => planner.plan(expr.condition));
    const step = inner(() => planner.plan(expr.step));
    const result = planner.plan(expr.result);
    if (isBind) {
      return (frame) => {
        frame.locals[accumulator] = undefined;
        return result(frame);
      };
    }
    return foldPlan({ range, initial, condition, step, result, accumulator, first, second });
  });
}

function foldPlan(fold: Fold): Plan {
  const { range, initial, result, accumulator } = fold;
  return (frame) => {
    const values = range(frame);
    if (values instanceof EvalError) return values;
    frame.locals[accumulator] = initial(frame);
    const visit = (key: Value, value: Value): boolean => {
      frame.locals[fold.first] = key;
      if (fold.second !== undefined) frame.locals[fold.second] = value;
      if (fold.condition(frame) === false) return false;
      frame.locals[accumulator] = fold.step(frame);
      return true;
    };
    const problem = fold.second === undefined ? forEachElement(values, visit) : forEachEntry(values, visit);
    return problem ?? result(frame);
  };
}

type Visit = (key: Value, value: Value) => boolean;

const NOT_ITERABLE = new EvalError('expected iterable type');

/** Visits the elements of a list or the keys of a map, until `visit` returns false. */
function forEachElement(values: Result, visit: Visit): EvalError | undefined {
  if (values instanceof ListValue) {
    const { size } = values;
    for (let index = 0; index < size; index += 1) if (!visit(values.at(index), null)) break;
    return undefined;
  }
  if (!(values instanceof MapValue)) return NOT_ITERABLE;
  for (const key of values.keys()) if (!visit(key, null)) break;
  return undefined;
}

/** Visits indices and elements of a list, or keys and values of a map. */
function forEachEntry(values: Result, visit: Visit): EvalError | undefined {
  if (values instanceof ListValue) {
    const { size } = values;
    for (let index = 0; index < size; index += 1) if (!visit(BigInt(index), values.at(index))) break;
    return undefined;
  }
  if (!(values instanceof MapValue)) return NOT_ITERABLE;
  for (const key of values.keys()) if (!visit(key, values.find(mapKeyOf(key) ?? '') ?? null)) break;
  return undefined;
}
