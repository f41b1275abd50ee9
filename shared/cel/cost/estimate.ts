import type { Checked } from '../check/checker';
import type { CelType } from '../check/types';
import { DYN, isOptional } from '../check/types';
import type { Call, Comprehension, Expr, ListLiteral, MapLiteral, Select } from '../parser/ast';
import { ACCUMULATOR } from '../parser/ast';
import { ListValue, MapValue, OpaqueValue, TypeValue, costSizeOf } from '../eval/values';
import { estimateCall } from './call-estimates';
import { COST } from './constants';
import { COUNT_MAX, ONE, UNKNOWN, ZERO, covering, exactly, plus, times } from './ranges';
import type { CallEstimate, CostNode, Range } from './ranges';

/**
 * Returns how large a value of the data may be; undefined when nothing is known.
 *
 * @param path names of a variable and of fields, with `@items`, `@keys` and `@values` for the contents of lists and maps
 */
export type SizeOfPath = (path: readonly string[]) => Range | undefined;

/**
 * Estimates what an expression costs at least and at most (cel-go `checker/cost.go`, with the costs of Kubernetes' libraries).
 *
 * @returns cost units of an evaluation
 */
export function estimateCost(checked: Checked, sizeOfPath: SizeOfPath): Range {
  return new Coster(checked, sizeOfPath).cost(checked.expr);
}

/** The sizes of the keys and values of a list or a map. */
interface EntrySize {
  readonly kind: 'list' | 'map';
  readonly key: Range;
  readonly value: Range;
}

interface LocalSize {
  readonly path: readonly string[];
  readonly size: Range | undefined;
  readonly entrySize: EntrySize | undefined;
}

class Coster {
  readonly #checked: Checked;
  readonly #sizeOfPath: SizeOfPath;
  readonly #paths = new Map<number, readonly string[]>();
  readonly #locals = new Map<string, LocalSize[]>();
  readonly #sizes = new Map<number, Range>();
  readonly #entrySizes = new Map<number, EntrySize>();

  constructor(checked: Checked, sizeOfPath: SizeOfPath) {
    this.#checked = checked;
    this.#sizeOfPath = sizeOfPath;
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case 'literal':
        return ZERO;
      case 'ident':
        this.#paths.set(expr.id, this.#local(expr.name)?.path ?? [expr.name]);
        return ONE;
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return plus(exactly(COST.createStruct), ...expr.fields.map((field) => this.cost(field.value)));
      case 'comprehension':
      default:
        return isBind(expr) ? this.#bind(expr) : this.#comprehension(expr);
    }
  }

  #typeOf(expr: Expr): CelType {
    return this.#checked.types.get(expr.id) ?? DYN;
  }

  #local(name: string): LocalSize | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #path(expr: Expr): readonly string[] {
    if (expr.kind === 'ident') {
      const local = this.#local(expr.name);
      if (local !== undefined) return local.path;
    }
    return this.#paths.get(expr.id) ?? [];
  }

  #select(expr: Select): Range {
    const operand = this.cost(expr.operand);
    if (expr.isTest) return operand;
    this.#paths.set(expr.id, [...this.#path(expr.operand), expr.field]);
    const { kind } = this.#typeOf(expr.operand);
    return kind === 'map' || kind === 'struct' || kind === 'typeParam' ? plus(operand, ONE) : operand;
  }

  #call(expr: Call): Range {
    const [first] = expr.args;
    if (expr.name === 'dyn' && first !== undefined) {
      const cost = plus(this.cost(first), ONE);
      this.#copySizes(expr, first);
      return cost;
    }
    const argCosts = expr.args.map((arg) => this.cost(arg));
    const args = expr.args.map((arg) => this.#node(arg));
    const overloads = this.#checked.references.get(expr.id)?.overloads ?? [];
    if (overloads.length === 0) return ZERO;
    const targetCost = expr.target === undefined ? ZERO : this.cost(expr.target);
    const target = expr.target === undefined ? undefined : this.#node(expr.target);
    let cost: Range = { min: COUNT_MAX, max: 0 };
    let size: Range | undefined;
    for (const { id } of overloads) {
      const estimate = this.#estimate(expr, id, { target, args, argCosts });
      cost = covering(cost, estimate.cost);
      if (estimate.size !== undefined)
        size = size === undefined ? estimate.size : covering(size, estimate.size);
      if (first !== undefined && (id === 'index_list' || id === 'index_map')) {
        size = this.#entrySize(first)?.value;
        this.#paths.set(expr.id, [...this.#path(first), id === 'index_list' ? '@items' : '@values']);
      }
      size ??= this.#size(expr);
    }
    if (size !== undefined) this.#sizes.set(expr.id, size);
    return plus(targetCost, cost);
  }

  #estimate(
    expr: Call,
    id: string,
    parts: { target: CostNode | undefined; args: readonly CostNode[]; argCosts: readonly Range[] },
  ): CallEstimate {
    const [first, second, third] = expr.args;
    if (id === 'conditional' && second !== undefined && third !== undefined) {
      this.#setEntrySize(expr, unite(this.#entrySize(second), this.#entrySize(third)));
    } else if (
      ['add_string', 'add_bytes', 'add_list'].includes(id) &&
      first !== undefined &&
      second !== undefined
    ) {
      this.#setEntrySize(expr, unite(this.#entrySize(first), this.#entrySize(second)));
    }
    return estimateCall({ name: expr.name, overloadId: id, sizeOfPath: this.#sizeOfPath, ...parts });
  }

  #list(expr: ListLiteral): Range {
    let value: Range = { min: expr.elements.length === 0 ? 0 : COUNT_MAX, max: 0 };
    const costs = expr.elements.map((element) => {
      const cost = this.cost(element);
      value = covering(value, this.#size(element) ?? UNKNOWN);
      return cost;
    });
    this.#entrySizes.set(expr.id, { kind: 'list', key: ONE, value });
    return plus(...costs, exactly(COST.createList));
  }

  #map(expr: MapLiteral): Range {
    const start: Range = { min: expr.entries.length === 0 ? 0 : COUNT_MAX, max: 0 };
    let [key, value] = [start, start];
    const costs = expr.entries.map((entry) => {
      const cost = plus(this.cost(entry.key), this.cost(entry.value));
      key = covering(key, this.#size(entry.key) ?? UNKNOWN);
      value = covering(value, this.#size(entry.value) ?? UNKNOWN);
      return cost;
    });
    this.#entrySizes.set(expr.id, { kind: 'map', key, value });
    return plus(...costs, exactly(COST.createMap));
  }

  #comprehension(expr: Comprehension): Range {
    const rangeCost = this.cost(expr.range);
    const initialCost = this.cost(expr.initial);
    this.#push(expr.accumulator, this.#valueOf(expr.initial));
    const [first, second] = this.#iterated(expr.range, expr.variable2 !== undefined);
    this.#push(expr.variable, first);
    if (expr.variable2 !== undefined) this.#push(expr.variable2, second);
    const conditionCost = this.cost(expr.condition);
    const stepCost = this.cost(expr.step);
    this.#locals.get(expr.variable)?.pop();
    if (expr.variable2 !== undefined) this.#locals.get(expr.variable2)?.pop();
    const resultCost = this.cost(expr.result);
    this.#locals.get(expr.accumulator)?.pop();
    const count = this.#size(expr.range) ?? UNKNOWN;
    if (expr.initial.kind === 'literal') {
      this.#setSize(expr, this.#size(expr.initial));
    } else if (expr.initial.kind === 'list' || expr.initial.kind === 'map') {
      this.#setSize(expr, count);
      this.#setEntrySize(expr, this.#entrySize(expr.step));
    }
    return plus(rangeCost, initialCost, resultCost, times(count, plus(stepCost, conditionCost)));
  }

  #bind(expr: Comprehension): Range {
    const cost = plus(this.cost(expr.range), this.cost(expr.initial));
    this.#push(expr.accumulator, this.#valueOf(expr.initial));
    const resultCost = this.cost(expr.result);
    this.#locals.get(expr.accumulator)?.pop();
    this.#copySizes(expr, expr.result);
    return plus(cost, resultCost);
  }

  #push(name: string, local: LocalSize): void {
    const stack = this.#locals.get(name) ?? [];
    this.#locals.set(name, [...stack, local]);
  }

  #valueOf(expr: Expr): LocalSize {
    return { path: this.#path(expr), size: this.#size(expr), entrySize: this.#entrySize(expr) };
  }

  /** What the variables of a comprehension over `range` hold. */
  #iterated(range: Expr, hasTwo: boolean): readonly [LocalSize, LocalSize] {
    const entry = this.#entrySize(range);
    const isList = (entry?.kind ?? this.#typeOf(range).kind) === 'list';
    const local = (step: string, size: Range | undefined): LocalSize => ({
      path: [...this.#path(range), step],
      size,
      entrySize: undefined,
    });
    const value = local(isList ? '@items' : '@values', entry?.value);
    if (hasTwo) return [local(isList ? '@indices' : '@keys', entry?.key), value];
    return [isList ? value : local('@keys', entry?.key), value];
  }

  #node(expr: Expr): CostNode {
    const path = this.#path(expr);
    const isAccumulator = path[0] === ACCUMULATOR;
    return { path: isAccumulator ? [] : path, type: this.#typeOf(expr), expr, size: this.#size(expr) };
  }

  #copySizes(to: Expr, from: Expr): void {
    this.#setSize(to, this.#size(from));
    this.#setEntrySize(to, this.#entrySize(from));
  }

  #setSize(expr: Expr, size: Range | undefined): void {
    if (size !== undefined) this.#sizes.set(expr.id, size);
  }

  #setEntrySize(expr: Expr, size: EntrySize | undefined): void {
    if (size !== undefined) this.#entrySizes.set(expr.id, size);
  }

  #size(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr.id) ?? literalSize(expr);
    if (known !== undefined) return known;
    const path = this.#path(expr);
    const declared = path.length === 0 ? undefined : this.#sizeOfPath(path);
    if (declared !== undefined) {
      this.#sizes.set(expr.id, declared);
      return declared;
    }
    if (isScalar(this.#typeOf(expr))) return ONE;
    return expr.kind === 'ident' ? this.#local(expr.name)?.size : undefined;
  }

  #entrySize(expr: Expr): EntrySize | undefined {
    return (
      this.#entrySizes.get(expr.id) ?? (expr.kind === 'ident' ? this.#local(expr.name)?.entrySize : undefined)
    );
  }
}

function unite(a: EntrySize | undefined, b: EntrySize | undefined): EntrySize | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { kind: a.kind, key: covering(a.key, b.key), value: covering(a.value, b.value) };
}

function literalSize(expr: Expr): Range | undefined {
  if (expr.kind === 'list') return exactly(expr.elements.length);
  if (expr.kind === 'map') return exactly(expr.entries.length);
  if (expr.kind !== 'literal') return undefined;
  const { value } = expr;
  const isOther =
    value instanceof ListValue ||
    value instanceof MapValue ||
    value instanceof OpaqueValue ||
    value instanceof TypeValue;
  return isOther ? undefined : exactly(costSizeOf(value));
}

/** Whether all values of a type have the same size. */
function isScalar(type: CelType): boolean {
  if (isOptional(type)) return isScalar(type.params[0] ?? DYN);
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind);
}

/** A fold over an empty list only binds a name. */
function isBind({ range, condition, accumulator }: Comprehension): boolean {
  const isNever = condition.kind === 'literal' && condition.value === false;
  return range.kind === 'list' && range.elements.length === 0 && isNever && accumulator !== '__result__';
}
