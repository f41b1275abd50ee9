import type { Result, Value } from '../eval/values';
import { DYN } from './types';
import type { CelType } from './types';

/** What a function does with its arguments; the receiver of a member call is the first one. */
export type Implementation = (...args: Value[]) => Result;

/** One signature of a function. */
export interface Overload {
  readonly id: string;
  readonly isMember: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  /** Release of Kubernetes, 1.x, that has it first; 0 for those it always had. */
  readonly since: number;
  readonly run: Implementation;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

export interface VariableDeclaration {
  readonly name: string;
  readonly type: CelType;
  /** The value of a constant, such as the name of a type. */
  readonly value?: Value;
}

/** The fields of a type, by name. */
export type FieldTypes = Pick<ReadonlyMap<string, CelType>, 'get'>;

/** Types with fields, by name; there may be any number of them. */
export type StructTypes = Pick<ReadonlyMap<string, FieldTypes>, 'get' | 'has'>;

/** What expressions may refer to. */
export interface Declarations {
  /** The namespace that names are looked up in first, as `a.b`; empty for none. */
  readonly container: string;
  readonly variables: ReadonlyMap<string, VariableDeclaration>;
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  /** Types with fields, by their name. */
  readonly structs: StructTypes;
}

/** Merges declarations of the same function, in the order given. */
export function mergeFunctions(
  declarations: Iterable<FunctionDeclaration>,
): Map<string, FunctionDeclaration> {
  const merged = new Map<string, FunctionDeclaration>();
  for (const { name, overloads } of declarations) {
    const known = merged.get(name)?.overloads ?? [];
    merged.set(name, { name, overloads: [...known, ...overloads] });
  }
  return merged;
}

/** The names that a name may mean in a container, the most specific first. */
export function candidateNames(container: string, name: string): string[] {
  if (name.startsWith('.')) return [name.slice(1)];
  const candidates: string[] = [];
  for (
    let prefix = container;
    prefix !== '';
    prefix = prefix.slice(0, Math.max(prefix.lastIndexOf('.'), 0))
  ) {
    candidates.push(`${prefix}.${name}`);
  }
  return [...candidates, name];
}

/** The local variables of nested comprehensions; the innermost scope wins. */
export class Scope {
  readonly #parent: Scope | undefined;
  readonly #names = new Map<string, CelType>();

  constructor(parent?: Scope) {
    this.#parent = parent;
  }

  declare(name: string, type: CelType | undefined): void {
    this.#names.set(name, type ?? DYN);
  }

  find(name: string): CelType | undefined {
    return this.#names.get(name) ?? this.#parent?.find(name);
  }
}
