import { ACCUMULATOR } from '../parser/ast';
import type { Comprehension, Expr } from '../parser/ast';
import { COST } from '../cost/constants';
import type { Frame } from './frame';
import { constantPlan, isConstant } from './plan';
import type { Plan, PlanContext } from './plan';
import { ArrayList, EvalError, ListValue, MapValue, NO_OVERLOAD, mapKeyOf } from './values';
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
    const known = knownFold(expr);
    if (known !== undefined) {
      const [predicate, transform] = [known.predicate, known.transform].map(
        (part) => part && inner(() => planner.plan(part)),
      );
      return planKnown(range, { kind: known.kind, predicate, transform, slots: { first, second } });
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

/** What a macro computes. */
type FoldKind = 'all' | 'exists' | 'existsOne' | 'collect';

interface KnownFold<Part> {
  readonly kind: FoldKind;
  /** Undefined for a collection of all elements. */
  readonly predicate: Part | undefined;
  /** What a collection has of each element. */
  readonly transform: Part | undefined;
}

/**
 * Recognizes what the macros `all`, `exists`, `exists_one`, `map`, `filter` and `transformList` expand to, so that their conditions and steps
 * are not evaluated part by part. Only macros can name the accumulator.
 *
 * @returns undefined for other comprehensions
 */
function knownFold({ accumulator, initial, step }: Comprehension): KnownFold<Expr> | undefined {
  if (accumulator !== ACCUMULATOR || step.kind !== 'call') return undefined;
  const [first, second] = step.args;
  const isConditional = step.name === '_?_:_';
  const predicate = isConditional ? first : undefined;
  const added = isConditional ? second : step;
  if (initial.kind === 'list') {
    const list = added?.kind === 'call' && added.name === '_+_' ? added.args[1] : undefined;
    const transform = list?.kind === 'list' ? list.elements[0] : undefined;
    return transform && { kind: 'collect', predicate, transform };
  }
  if (initial.kind !== 'literal') return undefined;
  if (initial.value === 0n) return { kind: 'existsOne', predicate, transform: undefined };
  const isQuantifier = step.name === (initial.value === true ? '_&&_' : '_||_');
  if (!isQuantifier) return undefined;
  return { kind: initial.value === true ? 'all' : 'exists', predicate: second, transform: undefined };
}

interface PlannedFold extends KnownFold<Plan> {
  readonly slots: FoldSlots;
}

/** Plans what a macro computes; it costs what the parts of its expansion would. */
function planKnown(
  range: Plan,
  { kind, predicate = constantPlan(true), transform, slots }: PlannedFold,
): Plan {
  if (kind === 'collect') return collectPlan(range, { predicate, transform: transform ?? predicate, slots });
  if (kind === 'existsOne') return countPlan(range, predicate, slots);
  return quantifierPlan(range, predicate, { isAll: kind === 'all', slots });
}

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
      else if (typeof accumulated === 'boolean' && typeof found !== 'boolean') accumulated = errorOf(found);
    }
    // The result, which is the accumulator.
    frame.charge(1);
    return accumulated;
  };
}

/** Counts the elements that the predicate is true for. */
function countPlan(range: Plan, predicate: Plan, slots: FoldSlots): Plan {
  return (frame) => {
    const elements = elementsOf(range(frame));
    if (elements instanceof EvalError) return elements;
    let count = 0;
    let problem: EvalError | undefined;
    for (let index = 0; index < elements.size; index += 1) {
      bindElement(frame, elements, { index, slots });
      const found = predicate(frame);
      if (found === true) {
        // The accumulator, and the sum.
        frame.charge(1);
        frame.charge(1);
        count += 1;
      } else if (found !== false) problem = errorOf(found);
    }
    // The accumulator, and the comparison with 1.
    frame.charge(1);
    frame.charge(1);
    return problem ?? count === 1;
  };
}

/** Collects what the transformation makes of the elements that the predicate is true for. */
function collectPlan(
  range: Plan,
  { predicate, transform, slots }: { predicate: Plan; transform: Plan; slots: FoldSlots },
): Plan {
  // Literals of constants are folded, and cost nothing.
  const listUnits = isConstant(transform) ? 0 : COST.createList;
  return (frame) => {
    const elements = elementsOf(range(frame));
    if (elements instanceof EvalError) return elements;
    const items: Value[] = [];
    let problem: EvalError | undefined;
    for (let index = 0; index < elements.size; index += 1) {
      bindElement(frame, elements, { index, slots });
      const found = predicate(frame);
      if (found === true) {
        // The accumulator, the list of one element, and the sum.
        frame.charge(1);
        const item = transform(frame);
        frame.charge(listUnits);
        frame.charge(1);
        if (item instanceof EvalError) problem ??= item;
        else items.push(item);
      } else if (found !== false) problem = errorOf(found);
    }
    frame.charge(1);
    return problem ?? new ArrayList(items);
  };
}

function errorOf(value: Result): EvalError {
  return value instanceof EvalError ? value : NO_OVERLOAD;
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
