import { ACCUMULATOR } from '../parser/ast';
import type { Comprehension, Expr } from '../parser/ast';
import type { Frame } from './frame';
import type { Plan, PlanContext } from './plan';
import { EvalError, ListValue, MapValue, NO_OVERLOAD, mapKeyOf } from './values';
import type { Result, Value } from './values';

/** The slots of the variables of a comprehension. */
interface FoldSlots {
  readonly first: number;
  readonly second: number | undefined;
}

/** The planned parts of a comprehension. */
interface Fold extends FoldSlots {
  readonly range: Plan;
  readonly initial: Plan;
  readonly condition: Plan;
  readonly step: Plan;
  readonly result: Plan;
  readonly accumulator: number;
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
    const quantified = predicateOf(expr);
    if (quantified !== undefined) {
      const predicate = inner(() => planner.plan(quantified.predicate));
      return quantifierPlan(range, predicate, { isAll: quantified.isAll, slots: { first, second } });
    }
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
  const { range, initial, condition, step, result, accumulator } = fold;
  return (frame) => {
    const elements = elementsOf(range(frame));
    if (elements instanceof EvalError) return elements;
    frame.locals[accumulator] = initial(frame);
    for (let index = 0; index < elements.size; index += 1) {
      bindElement(frame, elements, { index, slots: fold });
      if (condition(frame) === false) break;
      frame.locals[accumulator] = step(frame);
    }
    return result(frame);
  };
}

/**
 * The predicate of `all` and `exists`, whose accumulator is true, false or an error: neither their condition nor their step has to be
 * evaluated part by part. Only macros can name the accumulator.
 *
 * @returns undefined for other comprehensions
 */
function predicateOf({
  accumulator,
  initial,
  condition,
  step,
}: Comprehension): { readonly predicate: Expr; readonly isAll: boolean } | undefined {
  if (accumulator !== ACCUMULATOR || initial.kind !== 'literal' || step.kind !== 'call') return undefined;
  const isAll = step.name === '_&&_';
  const [left, predicate] = step.args;
  const isQuantifier =
    (isAll || step.name === '_||_') &&
    initial.value === isAll &&
    condition.kind === 'call' &&
    condition.name === '@not_strictly_false' &&
    left?.kind === 'ident' &&
    left.name === ACCUMULATOR;
  return isQuantifier && predicate !== undefined ? { predicate, isAll } : undefined;
}

/** Plans `all` or `exists`, which cost what their parts would. */
function quantifierPlan(
  range: Plan,
  predicate: Plan,
  { isAll, slots }: { readonly isAll: boolean; readonly slots: FoldSlots },
): Plan {
  return (frame) => {
    const elements = elementsOf(range(frame));
    if (elements instanceof EvalError) return elements;
    let accumulated: Result = isAll;
    for (let index = 0; index < elements.size; index += 1) {
      // The condition: the accumulator, its negation in `exists`, and the function around it.
      frame.charge(1);
      if (!isAll) frame.charge(1);
      frame.charge(1);
      if (accumulated === !isAll) break;
      bindElement(frame, elements, { index, slots });
      // The accumulator in the step.
      frame.charge(1);
      const found = predicate(frame);
      if (found === !isAll) accumulated = found;
      else if (typeof accumulated === 'boolean' && typeof found !== 'boolean')
        accumulated = found instanceof EvalError ? found : NO_OVERLOAD;
    }
    // The result, which is the accumulator.
    frame.charge(1);
    return accumulated;
  };
}

/** What a comprehension visits: the elements of a list, or the entries of a map. */
interface Elements {
  readonly size: number;
  readonly list: ListValue | undefined;
  readonly map: MapValue | undefined;
  readonly keys: readonly Value[];
}

const NO_KEYS: readonly Value[] = [];
const NOT_ITERABLE = new EvalError('expected iterable type');

function elementsOf(values: Result): Elements | EvalError {
  if (values instanceof ListValue) return { size: values.size, list: values, map: undefined, keys: NO_KEYS };
  if (values instanceof MapValue) {
    const keys = values.keys();
    return { size: keys.length, list: undefined, map: values, keys };
  }
  return values instanceof EvalError ? values : NOT_ITERABLE;
}

/** Puts an element into the variables: with two variables its index or key as well. */
function bindElement(
  { locals }: Frame,
  { list, map, keys }: Elements,
  { index, slots: { first, second } }: { readonly index: number; readonly slots: FoldSlots },
): void {
  if (second === undefined) {
    locals[first] = list === undefined ? (keys[index] ?? null) : list.at(index);
  } else if (list === undefined) {
    const key = keys[index] ?? null;
    locals[first] = key;
    locals[second] = map?.find(mapKeyOf(key) ?? '') ?? null;
  } else {
    locals[first] = BigInt(index);
    locals[second] = list.at(index);
  }
}
