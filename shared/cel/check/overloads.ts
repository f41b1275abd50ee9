import type { Call } from '../parser/ast';
import type { FunctionDeclaration, Overload } from './declarations';
import { BOOL, DYN, formatSignature, formatType, isDyn, isSameType } from './types';
import type { CelType } from './types';
import { substitute } from './unify';

/** What the resolution of calls needs of the checker. */
export interface ResolverContext {
  readonly newParam: () => CelType;
  readonly assign: (from: readonly CelType[], to: readonly CelType[]) => boolean;
  readonly substitute: (type: CelType, toDyn: boolean) => CelType;
  readonly report: (id: number, message: string) => void;
}

export interface Resolution {
  readonly type: CelType;
  readonly overloads: readonly Overload[];
}

/** Chooses the signatures of a function that fit its arguments (cel-go: `resolveOverload`). */
export class CallResolver {
  readonly #context: ResolverContext;

  constructor(context: ResolverContext) {
    this.#context = context;
  }

  /** Returns the type of a call and the signatures that fit; reports and returns undefined when none does. */
  resolve(call: Call, declaration: FunctionDeclaration, args: readonly CelType[]): Resolution | undefined {
    if (declaration.name === '_&&_' || declaration.name === '_||_')
      return this.#logical(call, declaration, args);
    const isMember = call.target !== undefined;
    const overloads: Overload[] = [];
    let type: CelType | undefined;
    for (const overload of declaration.overloads) {
      if (overload.isMember !== isMember) continue;
      const fresh = this.#instantiate(overload);
      if (!this.#context.assign(args, fresh.args)) continue;
      overloads.push(overload);
      const result = this.#context.substitute(fresh.result, false);
      if (type === undefined) type = result;
      else if (!isDyn(type) && !isSameType(type, result)) type = DYN;
    }
    if (type !== undefined) return { type, overloads };
    const signature = formatSignature(
      args.map((arg) => this.#context.substitute(arg, true)),
      isMember,
    );
    this.#context.report(
      call.id,
      `found no matching overload for '${declaration.name}' applied to '${signature}'`,
    );
    return undefined;
  }

  #logical(call: Call, declaration: FunctionDeclaration, args: readonly CelType[]): Resolution | undefined {
    const wrong = args.flatMap((arg, index) => (this.#context.assign([arg], [BOOL]) ? [] : [index]));
    for (const index of wrong) {
      const found = formatType(args[index] ?? DYN);
      this.#context.report(call.args[index]?.id ?? call.id, `expected type 'bool' but found '${found}'`);
    }
    return wrong.length > 0 ? undefined : { type: BOOL, overloads: declaration.overloads };
  }

  /** Replaces the type parameters of a signature by new ones, so that calls do not share them. */
  #instantiate(overload: Overload): { args: readonly CelType[]; result: CelType } {
    const names = new Set<string>();
    for (const type of [...overload.args, overload.result]) collectParams(type, names);
    if (names.size === 0) return overload;
    const fresh = new Map(Array.from(names, (name) => [name, this.#context.newParam()] as const));
    return {
      args: overload.args.map((arg) => substitute(fresh, arg, false)),
      result: substitute(fresh, overload.result, false),
    };
  }
}

function collectParams(type: CelType, into: Set<string>): void {
  if (type.kind === 'typeParam') into.add(type.name);
  for (const param of type.params) collectParams(param, into);
}
