import { DYN, isDyn, isSameType } from './types';
import type { CelType } from './types';

/** Ends the check of an expression whose types grow with each step: `[1].map(x, {x: x}).map(x, {x: x})` doubles them. */
export class TypesTooLargeError extends Error {}

/** What the type parameters of one expression stand for. A failed assignment takes back what it learned. */
export class Bindings {
  /** How many more parts of types may be visited. */
  #partsLeft: number;
  readonly #types = new Map<string, CelType>();
  readonly #changes: (readonly [name: string, before: CelType | undefined])[] = [];

  constructor(partsMax: number) {
    this.#partsLeft = partsMax;
  }

  /** @throws TypesTooLargeError when too many parts of types were visited */
  visit(): void {
    this.#partsLeft -= 1;
    if (this.#partsLeft < 0) throw new TypesTooLargeError();
  }

  get(name: string): CelType | undefined {
    return this.#types.get(name);
  }

  set(name: string, type: CelType): void {
    this.#changes.push([name, this.#types.get(name)]);
    this.#types.set(name, type);
  }

  /**
   * Checks that values of the first types can be used where the second ones are expected, as cel-go's `isAssignableList` does, and
   * remembers what parameters stand for when they can.
   */
  assign(from: readonly CelType[], to: readonly CelType[]): boolean {
    const isAssigned = areAssignable(this, from, to);
    if (!isAssigned) this.#takeBack();
    this.#changes.length = 0;
    return isAssigned;
  }

  #takeBack(): void {
    for (const [name, before] of this.#changes.toReversed()) {
      if (before === undefined) this.#types.delete(name);
      else this.#types.set(name, before);
    }
  }
}

/** Replaces bound type parameters; unbound ones become `dyn` if `toDyn` is set. */
export function substitute(
  bindings: Pick<Bindings, 'get'> & Partial<Pick<Bindings, 'visit'>>,
  type: CelType,
  toDyn: boolean,
): CelType {
  bindings.visit?.();
  if (type.kind === 'typeParam') {
    const bound = bindings.get(type.name);
    if (bound !== undefined) return substitute(bindings, bound, toDyn);
    return toDyn ? DYN : type;
  }
  if (type.params.length === 0) return type;
  const params = type.params.map((param) => substitute(bindings, param, toDyn));
  return params.every((param, index) => param === type.params[index]) ? type : { ...type, params };
}

/** Returns the more general of two types that unify. */
export function mostGeneral(a: CelType, b: CelType): CelType {
  return isEqualOrLessSpecific(a, b) ? a : b;
}

function areAssignable(bindings: Bindings, from: readonly CelType[], to: readonly CelType[]): boolean {
  return (
    from.length === to.length && from.every((type, index) => isAssignable(bindings, type, to[index] ?? DYN))
  );
}

function isAssignable(bindings: Bindings, from: CelType, to: CelType): boolean {
  if (to.kind === 'typeParam') {
    const [isValid, isBound] = bind(bindings, from, to);
    if (isValid) return true;
    if (isBound) return false;
  }
  if (from.kind === 'typeParam') return bind(bindings, to, from)[0];
  if (isDyn(from) || isDyn(to) || from.kind === 'error' || to.kind === 'error') return true;
  if (from.kind === 'null') return isNullable(to);
  if (to.kind === 'null') return isNullable(from);
  switch (from.kind as string) {
    case 'type':
      return to.kind === 'type';
    case 'opaque':
    case 'list':
    case 'map':
      return (
        from.kind === to.kind && from.name === to.name && areAssignable(bindings, from.params, to.params)
      );
    default:
      return isSameType(from, to);
  }
}

/** Types whose values may be null: those of messages, and of opaque values as well. */
function isNullable(type: CelType): boolean {
  return ['null', 'opaque', 'struct', 'any', 'duration', 'timestamp', 'dyn'].includes(type.kind);
}

/** Binds the parameter `param` to `type`, or checks it against its binding: whether it fits, and whether it was bound. */
function bind(
  bindings: Bindings,
  type: CelType,
  param: CelType,
): readonly [isValid: boolean, isBound: boolean] {
  if (isSameType(type, param)) return [true, true];
  const bound = bindings.get(param.name);
  if (bound === undefined) {
    if (!isFree(bindings, param, type)) return [false, false];
    bindings.set(param.name, type);
    return [true, false];
  }
  if (isSameType(type, bound)) return [true, true];
  if (!isAssignable(bindings, type, bound)) return [false, true];
  const general = mostGeneral(type, bound);
  if (isFree(bindings, param, general)) bindings.set(param.name, general);
  return [true, true];
}

/** Whether a parameter does not occur in a type, which would bind it to itself. */
function isFree(bindings: Bindings, param: CelType, within: CelType): boolean {
  bindings.visit();
  if (isSameType(param, within)) return false;
  if (within.kind === 'typeParam') {
    const bound = bindings.get(within.name);
    return bound === undefined || isFree(bindings, param, bound);
  }
  return within.params.every((inner) => isFree(bindings, param, inner));
}

function isEqualOrLessSpecific(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === 'typeParam') return true;
  if (isDyn(b) || b.kind === 'typeParam') return false;
  if (a.kind !== b.kind) return false;
  switch (a.kind as string) {
    case 'opaque':
    case 'list':
    case 'map':
      return (
        a.name === b.name &&
        a.params.length === b.params.length &&
        a.params.every((param, index) => isEqualOrLessSpecific(param, b.params[index] ?? DYN))
      );
    case 'type':
      return true;
    default:
      return isSameType(a, b);
  }
}
