import { ACCUMULATOR, MacroError } from './ast';
import type { Expr } from './ast';
import type { TreeBuilder } from './tree-builder';

export interface MacroCall {
  readonly build: TreeBuilder;
  /** Offset of the call in the source, which all nodes of the expansion share. */
  readonly offset: number;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

/** A call that the parser replaces by another expression. */
export interface Macro {
  readonly name: string;
  readonly argCount: number;
  readonly isMember: boolean;
  /** Release of Kubernetes, 1.x, that has it first; 0 for those it always had. */
  readonly since: number;
  /** Returns what the call means; undefined if it is a call of a function after all. */
  readonly expand: Expansion;
}

type Expansion = (call: MacroCall) => Expr | undefined;

type Quantifier = 'all' | 'exists' | 'existsOne';

/** The macros of the language itself (cel-go `parser/macro.go`). */
export const STANDARD_MACROS: readonly Macro[] = [
  { name: 'has', argCount: 1, isMember: false, since: 0, expand: expandHas },
  ...quantifiers(2, 0),
  member('map', 2, 0, expandMap),
  member('map', 3, 0, expandMap),
  member('filter', 2, 0, expandFilter),
];

/** The macros of two-variable comprehensions (cel-go `ext/comprehensions.go`). */
export const TWO_VARIABLE_MACROS: readonly Macro[] = [
  ...quantifiers(3, 32),
  member('transformList', 3, 32, expandTransformList),
  member('transformList', 4, 32, expandTransformList),
  member('transformMap', 3, 32, expandTransformMap),
  member('transformMap', 4, 32, expandTransformMap),
  member('transformMapEntry', 3, 32, expandTransformMapEntry),
  member('transformMapEntry', 4, 32, expandTransformMapEntry),
];

/** The macros of optional values (cel-go `cel/library.go`). */
export const OPTIONAL_MACROS: readonly Macro[] = [
  member('optMap', 2, 28, (call) => expandOptional(call, true)),
  member('optFlatMap', 2, 28, (call) => expandOptional(call, false)),
];

/** The macro of cel-go's bindings library (`ext/bindings.go`), which the selectors of devices have in addition. */
export const BINDING_MACROS: readonly Macro[] = [member('bind', 3, 31, expandBind)];

/** A fold over nothing binds a name to a value, as with optional values. */
function expandBind({ build, offset, target, args }: MacroCall): Expr | undefined {
  const [variable, initial, result] = args;
  if (target?.kind !== 'ident' || target.name !== 'cel') return undefined;
  if (variable?.kind !== 'ident' || initial === undefined || result === undefined)
    throw new MacroError(variable?.id ?? 0, 'cel.bind() variable names must be simple identifiers');
  return build.fold(offset, {
    range: build.list(offset, []),
    variable: '#unused',
    accumulator: variable.name,
    initial,
    condition: build.literal(offset, false),
    step: build.ident(offset, variable.name),
    result,
  });
}

/** The macro of cel-go's lists library (`ext/lists.go`). */
export const LIST_MACROS: readonly Macro[] = [member('sortBy', 2, 34, expandSortBy)];

function expandSortBy(call: MacroCall): Expr {
  const { build, offset, target } = call;
  const input = '@__sortBy_input__';
  const keys = collect(
    { ...call, target: build.ident(offset, input) },
    variablesOf(call, 1, 'argument is not an identifier'),
  );
  const sort: Expr = {
    kind: 'call',
    id: build.id(offset),
    name: '@sortByAssociatedKeys',
    target: build.ident(offset, input),
    args: [keys],
  };
  return build.fold(offset, {
    range: build.list(offset, []),
    variable: '#unused',
    accumulator: input,
    initial: target ?? build.list(offset, []),
    condition: build.literal(offset, false),
    step: build.ident(offset, input),
    result: sort,
  });
}

function member(name: string, argCount: number, since: number, expand: Expansion): Macro {
  return { name, argCount, isMember: true, since, expand };
}

function quantifiers(argCount: number, since: number): Macro[] {
  const row = (name: string, kind: Quantifier): Macro =>
    member(name, argCount, since, (call) => expandQuantifier(call, kind));
  return [
    row('all', 'all'),
    row('exists', 'exists'),
    row('exists_one', 'existsOne'),
    row('existsOne', 'existsOne'),
  ];
}

function expandHas({ build, offset, args }: MacroCall): Expr {
  const [argument] = args;
  if (argument?.kind !== 'select') throw new MacroError(argument?.id ?? 0, 'invalid argument to has() macro');
  return {
    kind: 'select',
    id: build.id(offset),
    operand: argument.operand,
    field: argument.field,
    isTest: true,
  };
}

/** Splits the arguments into one or two variables and the rest. */
function variablesOf(call: MacroCall, count: 1 | 2, problem: string): { names: string[]; rest: Expr[] } {
  const names: string[] = [];
  for (const argument of call.args.slice(0, count)) {
    if (argument.kind !== 'ident') throw new MacroError(argument.id, problem);
    if (names.includes(argument.name))
      throw new MacroError(argument.id, `duplicate variable name: ${argument.name}`);
    if (argument.name === ACCUMULATOR || argument.name === '__result__') {
      throw new MacroError(argument.id, 'iteration variable overwrites accumulator variable');
    }
    names.push(argument.name);
  }
  return { names, rest: call.args.slice(count) };
}

function rangeAndVariables(
  call: MacroCall,
  names: readonly string[],
): { range: Expr; variable: string; variable2?: string } {
  const [variable = '', variable2] = names;
  const range = call.target ?? call.build.list(call.offset, []);
  return variable2 === undefined ? { range, variable } : { range, variable, variable2 };
}

function expandQuantifier(call: MacroCall, kind: Quantifier): Expr {
  const { build, offset } = call;
  const { names, rest } = variablesOf(call, call.args.length === 3 ? 2 : 1, 'argument must be a simple name');
  const [predicate = build.literal(offset, true)] = rest;
  const accu = (): Expr => build.accumulator(offset);
  const parts = rangeAndVariables(call, names);
  if (kind === 'existsOne') {
    return build.fold(offset, {
      ...parts,
      initial: build.literal(offset, 0n),
      condition: build.literal(offset, true),
      step: build.call(offset, '_?_:_', [
        predicate,
        build.call(offset, '_+_', [accu(), build.literal(offset, 1n)]),
        accu(),
      ]),
      result: build.call(offset, '_==_', [accu(), build.literal(offset, 1n)]),
    });
  }
  const isAll = kind === 'all';
  const open = isAll ? accu() : build.call(offset, '!_', [accu()]);
  return build.fold(offset, {
    ...parts,
    initial: build.literal(offset, isAll),
    condition: build.call(offset, '@not_strictly_false', [open]),
    step: build.call(offset, isAll ? '_&&_' : '_||_', [accu(), predicate]),
  });
}

function expandMap(call: MacroCall): Expr {
  return collect(call, variablesOf(call, 1, 'argument is not an identifier'));
}

function expandTransformList(call: MacroCall): Expr {
  return collect(call, variablesOf(call, 2, 'argument must be a simple name'));
}

/** Adds the last of the remaining arguments to a list, if the one before it is true. */
function collect(call: MacroCall, { names, rest }: { names: string[]; rest: Expr[] }): Expr {
  const { build, offset } = call;
  const transform = rest.at(-1) ?? build.literal(offset, null);
  const add = build.call(offset, '_+_', [build.accumulator(offset), build.list(offset, [transform])]);
  return build.fold(offset, {
    ...rangeAndVariables(call, names),
    initial: build.list(offset, []),
    condition: build.literal(offset, true),
    step: onlyIf(call, rest.length === 2 ? rest[0] : undefined, add),
  });
}

function onlyIf({ build, offset }: MacroCall, filter: Expr | undefined, step: Expr): Expr {
  return filter === undefined ? step : build.call(offset, '_?_:_', [filter, step, build.accumulator(offset)]);
}

function expandFilter(call: MacroCall): Expr {
  const { names, rest } = variablesOf(call, 1, 'argument is not an identifier');
  const [element] = call.args;
  return collect(call, { names, rest: element === undefined ? rest : [...rest, element] });
}

function expandTransformMap(call: MacroCall): Expr {
  const { names, rest } = variablesOf(call, 2, 'argument must be a simple name');
  return insertInto(call, { names, rest }, [call.build.ident(call.offset, names[0] ?? '')]);
}

function expandTransformMapEntry(call: MacroCall): Expr {
  return insertInto(call, variablesOf(call, 2, 'argument must be a simple name'), []);
}

function insertInto(
  call: MacroCall,
  { names, rest }: { names: string[]; rest: Expr[] },
  key: readonly Expr[],
): Expr {
  const { build, offset } = call;
  const transform = rest.at(-1) ?? build.literal(offset, null);
  const insert = build.call(offset, 'cel.@mapInsert', [build.accumulator(offset), ...key, transform]);
  return build.fold(offset, {
    ...rangeAndVariables(call, names),
    initial: build.emptyMap(offset),
    condition: build.literal(offset, true),
    step: onlyIf(call, rest.length === 2 ? rest[0] : undefined, insert),
  });
}

/** A fold over nothing binds the variable: its accumulator is the value, and its result the computation. */
function expandOptional({ build, offset, target, args }: MacroCall, wrapsResult: boolean): Expr {
  const [variable, computation] = args;
  const operand = target ?? build.literal(offset, null);
  if (variable?.kind !== 'ident' || computation === undefined) {
    const name = wrapsResult ? 'optMap' : 'optFlatMap';
    throw new MacroError(variable?.id ?? 0, `${name}() variable name must be a simple identifier`);
  }
  const bound = build.fold(offset, {
    range: build.list(offset, []),
    variable: '#unused',
    accumulator: variable.name,
    initial: build.memberCall(offset, 'value', build.copy(operand)),
    condition: build.literal(offset, false),
    step: build.ident(offset, variable.name),
    result: computation,
  });
  return build.call(offset, '_?_:_', [
    build.memberCall(offset, 'hasValue', operand),
    wrapsResult ? build.call(offset, 'optional.of', [bound]) : bound,
    build.call(offset, 'optional.none', []),
  ]);
}
