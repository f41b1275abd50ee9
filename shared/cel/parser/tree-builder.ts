import { ACCUMULATOR, childrenOf, MacroError } from './ast';
import type { Call, Expr, Ident, ListLiteral, Literal, MapLiteral } from './ast';
import type { Value } from '../eval/values';

export interface FoldParts {
  readonly range: Expr;
  readonly variable: string;
  readonly variable2?: string;
  readonly accumulator?: string;
  readonly initial: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result?: Expr;
}

/** The most nodes that macros may copy: each `optMap` copies its target, so that a chain of them doubles with each link. */
const COPIES_MAX = 10_000;

/** Makes nodes with numbers of their own and remembers where each of them is in the source. */
export class TreeBuilder {
  /** Offset of each node in the source, in UTF-16 units. */
  readonly offsets = new Map<number, number>();
  #last = 0;
  #copies = 0;

  /** Returns the number of a new node at `offset`. */
  id(offset: number): number {
    this.#last += 1;
    this.offsets.set(this.#last, offset);
    return this.#last;
  }

  offsetOf(id: number): number {
    return this.offsets.get(id) ?? -1;
  }

  literal(offset: number, value: Value): Literal {
    return { kind: 'literal', id: this.id(offset), value };
  }

  ident(offset: number, name: string): Ident {
    return { kind: 'ident', id: this.id(offset), name };
  }

  accumulator(offset: number): Ident {
    return this.ident(offset, ACCUMULATOR);
  }

  call(offset: number, name: string, args: readonly Expr[]): Call {
    return { kind: 'call', id: this.id(offset), name, args };
  }

  memberCall(offset: number, name: string, target: Expr): Call {
    return { kind: 'call', id: this.id(offset), name, target, args: [] };
  }

  list(offset: number, elements: readonly Expr[]): ListLiteral {
    return { kind: 'list', id: this.id(offset), elements, optional: new Set() };
  }

  emptyMap(offset: number): MapLiteral {
    return { kind: 'map', id: this.id(offset), entries: [] };
  }

  /** Makes a fold; without an accumulator of its own it uses the hidden one, and its result is that variable. */
  fold(offset: number, parts: FoldParts): Expr {
    return {
      ...parts,
      kind: 'comprehension',
      id: this.id(offset),
      accumulator: parts.accumulator ?? ACCUMULATOR,
      result: parts.result ?? this.accumulator(offset),
    };
  }

  /**
   * Copies a tree, with a new number for each node.
   *
   * @throws MacroError when an expression has copied too many nodes
   */
  copy(expr: Expr): Expr {
    this.#copies += 1;
    if (this.#copies > COPIES_MAX) throw new MacroError(expr.id, 'expression expands to too many nodes');
    const id = this.id(this.offsetOf(expr.id));
    switch (expr.kind) {
      case 'literal':
      case 'ident':
        return { ...expr, id };
      case 'select':
        return { ...expr, id, operand: this.copy(expr.operand) };
      case 'call': {
        const args = expr.args.map((arg) => this.copy(arg));
        return expr.target === undefined
          ? { ...expr, id, args }
          : { ...expr, id, args, target: this.copy(expr.target) };
      }
      case 'list':
        return { ...expr, id, elements: expr.elements.map((element) => this.copy(element)) };
      case 'map':
        return {
          ...expr,
          id,
          entries: expr.entries.map((entry) => ({
            ...entry,
            id: this.id(this.offsetOf(entry.id)),
            key: this.copy(entry.key),
            value: this.copy(entry.value),
          })),
        };
      case 'struct':
        return {
          ...expr,
          id,
          fields: expr.fields.map((field) => ({
            ...field,
            id: this.id(this.offsetOf(field.id)),
            value: this.copy(field.value),
          })),
        };
      case 'comprehension':
      default: {
        const [range, initial, condition, step, result] = childrenOf(expr).map((child) => this.copy(child));
        if (!range || !initial || !condition || !step || !result) return expr;
        return { ...expr, id, range, initial, condition, step, result };
      }
    }
  }
}
