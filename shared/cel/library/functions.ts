import type { FunctionDeclaration, Implementation, Overload } from '../check/declarations';
import type { CelType } from '../check/types';
import { NO_OVERLOAD } from '../eval/values';
import type { Result, Value } from '../eval/values';

/** A signature before it has a name and a release. */
export type Signature = Omit<Overload, 'since'>;

/** A signature of a function that is called as `f(a, b)`. */
export function global(
  id: string,
  args: readonly CelType[],
  result: CelType,
  run: Implementation,
): Signature {
  return { id, isMember: false, args, result, run };
}

/** A signature of a function that is called as `a.f(b)`; the receiver is the first argument. */
export function method(
  id: string,
  args: readonly CelType[],
  result: CelType,
  run: Implementation,
): Signature {
  return { id, isMember: true, args, result, run };
}

/** Declares a function that Kubernetes 1.`since` has first; 0 for those it always had. */
export function declare(name: string, since: number, ...signatures: Signature[]): FunctionDeclaration {
  return { name, overloads: signatures.map((signature) => ({ ...signature, since })) };
}

/** An implementation over strings only. */
export function onStrings(run: (...args: string[]) => Result): Implementation {
  return (...args: Value[]) => (args.every((arg) => typeof arg === 'string') ? run(...args) : NO_OVERLOAD);
}
