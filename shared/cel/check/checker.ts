import type {
  Call,
  Comprehension,
  Expr,
  ListLiteral,
  MapLiteral,
  Select,
  StructLiteral,
} from '../parser/ast';
import type { Parsed } from '../parser/parser';
import { Issues } from '../parser/source';
import { typeOfValue } from '../eval/values';
import { candidateNames, Scope } from './declarations';
import type { Declarations, FunctionDeclaration, Overload, VariableDeclaration } from './declarations';
import { CallResolver } from './overloads';
import {
  BOOL,
  DYN,
  ERROR,
  INT,
  formatType,
  isDyn,
  isSameType,
  listOf,
  mapOf,
  optionalOf,
  structOf,
  typeOf,
  unwrapOptional,
} from './types';
import type { CelType } from './types';
import { Bindings, mostGeneral, substitute, TypesTooLargeError } from './unify';

/** What a checked name or call refers to. */
export interface Reference {
  /** The full name of a variable. */
  readonly variable?: VariableDeclaration;
  /** The signatures that may apply; more than one only when arguments are dynamic. */
  readonly overloads?: readonly Overload[];
}

/** An expression whose names are resolved and whose parts have types. */
export interface Checked {
  readonly source: string;
  readonly expr: Expr;
  readonly offsets: ReadonlyMap<number, number>;
  readonly types: ReadonlyMap<number, CelType>;
  readonly references: ReadonlyMap<number, Reference>;
  readonly type: CelType;
}

/** The string constant of an optional selection. */
function fieldOf(expr: Expr | undefined): string | undefined {
  return expr?.kind === 'literal' && typeof expr.value === 'string' ? expr.value : undefined;
}

/**
 * Checks the types of an expression and resolves its names, as cel-go's `checker.Check` does.
 *
 * @returns the checked expression, or the issues when there are any
 */
export function check(parsed: Parsed, declarations: Declarations): Checked | Issues {
  const issues = new Issues(parsed.source);
  try {
    return new Checker(parsed, declarations, issues).run() ?? issues;
  } catch (error) {
    if (!(error instanceof TypesTooLargeError)) throw error;
    issues.report(-1, 'types of the expression are too large');
    return issues;
  }
}

/** Parts of types that a check may visit: many times what useful expressions need. */
const PARTS_MAX = 20_000;
const PARTS_PER_CHARACTER_MAX = 50;

class Checker {
  readonly #parsed: Parsed;
  readonly #declarations: Declarations;
  readonly #issues: Issues;
  readonly #types = new Map<number, CelType>();
  readonly #references = new Map<number, Reference>();
  readonly #resolver: CallResolver;
  readonly #bindings: Bindings;
  #scope = new Scope();
  #freeCount = 0;

  constructor(parsed: Parsed, declarations: Declarations, issues: Issues) {
    this.#parsed = parsed;
    this.#declarations = declarations;
    this.#issues = issues;
    this.#bindings = new Bindings(PARTS_MAX + PARTS_PER_CHARACTER_MAX * parsed.source.length);
    this.#resolver = new CallResolver({
      newParam: () => this.#newParam(),
      assign: (from, to) => this.#assign(from, to),
      substitute: (type, toDyn) => substitute(this.#bindings, type, toDyn),
      report: (id, message) => this.#report(id, message),
    });
  }

  run(): Checked | undefined {
    const expr = this.#check(this.#parsed.expr);
    if (!this.#issues.isEmpty) return undefined;
    for (const [id, type] of this.#types) this.#types.set(id, substitute(this.#bindings, type, true));
    const { source, offsets } = this.#parsed;
    const [types, references] = [this.#types, this.#references];
    return { source, expr, offsets, types, references, type: this.#typeOf(expr) };
  }

  #check(expr: Expr): Expr {
    switch (expr.kind) {
      case 'literal':
        this.#types.set(expr.id, typeOfValue(expr.value));
        return expr;
      case 'ident':
        return this.#ident(expr.id, [expr.name]) ?? this.#undeclared(expr, expr.name);
      case 'select':
        return this.#select(expr);
      case 'call':
        return expr.name === '_?._' ? this.#optionalSelect(expr) : this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return this.#struct(expr);
      case 'comprehension':
      default:
        return this.#comprehension(expr);
    }
  }

  #report(id: number, message: string): void {
    this.#issues.report(this.#parsed.offsets.get(id) ?? -1, message);
  }

  #typeOf(expr: Expr): CelType {
    return this.#types.get(expr.id) ?? ERROR;
  }

  #newParam(): CelType {
    this.#freeCount += 1;
    return { kind: 'typeParam', name: `_var${this.#freeCount - 1}`, params: [] };
  }

  #assign(from: readonly CelType[], to: readonly CelType[]): boolean {
    return this.#bindings.assign(from, to);
  }

  #expectType(expr: Expr, type: CelType): void {
    if (!this.#assign([type], [this.#typeOf(expr)])) this.#mismatch(expr.id, type, this.#typeOf(expr));
  }

  #mismatch(id: number, expected: CelType, found: CelType): void {
    this.#report(id, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  }

  #undeclared(expr: Expr, name: string): Expr {
    this.#types.set(expr.id, ERROR);
    this.#report(
      expr.id,
      `undeclared reference to '${name}' (in container '${this.#declarations.container}')`,
    );
    return expr;
  }

  /** Resolves a name with its qualifiers to a variable or a type, if there is one. */
  #ident(id: number, qualifiers: readonly string[]): Expr | undefined {
    const [first = ''] = qualifiers;
    const local = this.#scope.find(first);
    if (local !== undefined && !first.startsWith('.')) {
      if (qualifiers.length > 1) return undefined;
      this.#types.set(id, local);
      return { kind: 'ident', id, name: first };
    }
    for (const name of candidateNames(this.#declarations.container, qualifiers.join('.'))) {
      const variable = this.#global(name);
      if (variable === undefined) continue;
      this.#types.set(id, variable.type);
      this.#references.set(id, { variable });
      // A leading dot keeps the planner from taking a local variable of the same name.
      return { kind: 'ident', id, name: this.#scope.find(name) === undefined ? name : `.${name}` };
    }
    return undefined;
  }

  #global(name: string): VariableDeclaration | undefined {
    const known = this.#declarations.variables.get(name);
    if (known !== undefined) return known;
    return this.#declarations.structs.has(name) ? { name, type: typeOf(structOf(name)) } : undefined;
  }

  #select(expr: Select): Expr {
    const qualifiers = expr.isTest ? undefined : qualifiersOf(expr);
    const resolved = qualifiers === undefined ? undefined : this.#ident(expr.id, qualifiers);
    if (resolved !== undefined) return resolved;
    const operand = this.#check(expr.operand);
    const type = this.#fieldType(expr.id, operand, expr.field);
    this.#types.set(expr.id, expr.isTest ? BOOL : type);
    return { ...expr, operand };
  }

  #optionalSelect(expr: Call): Expr {
    const [operandExpr, fieldExpr] = expr.args;
    const field = fieldOf(fieldExpr);
    if (
      operandExpr === undefined ||
      fieldExpr === undefined ||
      field === undefined ||
      expr.target !== undefined
    ) {
      this.#report(expr.id, 'unsupported optional field selection: incorrect signature.');
      return expr;
    }
    const operand = this.#check(operandExpr);
    const [type] = unwrapOptional(this.#fieldType(expr.id, operand, field));
    this.#types.set(expr.id, optionalOf(type));
    this.#types.set(fieldExpr.id, typeOfValue(field));
    this.#references.set(expr.id, { overloads: this.#declarations.functions.get('_?._')?.overloads ?? [] });
    return { ...expr, args: [operand, fieldExpr] };
  }

  /** The type of a field of an operand; of an optional operand the field is optional as well. */
  #fieldType(id: number, operand: Expr, field: string): CelType {
    const [target, isOptional] = unwrapOptional(substitute(this.#bindings, this.#typeOf(operand), false));
    let result: CelType = DYN;
    if (target.kind === 'map') result = target.params[1] ?? DYN;
    else if (target.kind === 'struct') result = this.#structField(id, target.name, field);
    else if (target.kind === 'typeParam') this.#assign([DYN], [target]);
    else if (target.kind !== 'error' && !isDyn(target)) {
      this.#report(id, `type '${formatType(target)}' does not support field selection`);
    }
    return substitute(this.#bindings, isOptional ? optionalOf(result) : result, false);
  }

  #structField(id: number, struct: string, field: string): CelType {
    const fields = this.#declarations.structs.get(struct);
    const type = fields?.get(field);
    if (fields === undefined) this.#report(id, `unexpected failed resolution of '${struct}'`);
    else if (type === undefined) this.#report(id, `undefined field '${field}'`);
    return type ?? ERROR;
  }

  #call(expr: Call): Expr {
    const args = expr.args.map((arg) => this.#check(arg));
    if (expr.target === undefined) {
      const declaration = this.#function(expr.name);
      if (declaration === undefined) return this.#undeclared(expr, expr.name);
      return this.#resolve({ kind: 'call', id: expr.id, name: declaration.name, args }, declaration);
    }
    const qualifiers = qualifiersOf(expr.target);
    const global = qualifiers && this.#function([...qualifiers, expr.name].join('.'));
    if (global !== undefined)
      return this.#resolve({ kind: 'call', id: expr.id, name: global.name, args }, global);
    const target = this.#check(expr.target);
    const declaration = this.#function(expr.name);
    const call: Call = { kind: 'call', id: expr.id, name: expr.name, target, args };
    return declaration === undefined ? this.#undeclared(call, expr.name) : this.#resolve(call, declaration);
  }

  #function(name: string): FunctionDeclaration | undefined {
    for (const candidate of candidateNames(this.#declarations.container, name)) {
      const found = this.#declarations.functions.get(candidate);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #resolve(call: Call, declaration: FunctionDeclaration): Expr {
    const parts = call.target === undefined ? call.args : [call.target, ...call.args];
    const resolution = this.#resolver.resolve(
      call,
      declaration,
      parts.map((part) => this.#typeOf(part)),
    );
    this.#types.set(call.id, resolution?.type ?? ERROR);
    if (resolution !== undefined) this.#references.set(call.id, { overloads: resolution.overloads });
    return call;
  }

  #list(expr: ListLiteral): Expr {
    let type: CelType | undefined;
    const elements = expr.elements.map((element, index) => {
      const checked = this.#check(element);
      type = this.#join(type, this.#contentType(checked, expr.optional.has(index)));
      return checked;
    });
    this.#types.set(expr.id, listOf(type ?? this.#newParam()));
    return { ...expr, elements };
  }

  #map(expr: MapLiteral): Expr {
    let keyType: CelType | undefined;
    let valueType: CelType | undefined;
    const entries = expr.entries.map((entry) => {
      const key = this.#check(entry.key);
      keyType = this.#join(keyType, this.#typeOf(key));
      const value = this.#check(entry.value);
      valueType = this.#join(valueType, this.#contentType(value, entry.isOptional));
      return { ...entry, key, value };
    });
    this.#types.set(expr.id, mapOf(keyType ?? this.#newParam(), valueType ?? this.#newParam()));
    return { ...expr, entries };
  }

  /** The type of an element; of one written with `?` it is the content of the optional. */
  #contentType(expr: Expr, isOptional: boolean): CelType {
    const type = this.#typeOf(expr);
    if (!isOptional) return type;
    const [content, wasOptional] = unwrapOptional(type);
    if (!wasOptional && !isDyn(type)) this.#mismatch(expr.id, optionalOf(type), type);
    return content;
  }

  #join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current;
    if (this.#assign([previous], [current])) return mostGeneral(previous, current);
    return DYN;
  }

  #struct(expr: StructLiteral): Expr {
    const name = candidateNames(this.#declarations.container, expr.typeName).find((candidate) =>
      this.#declarations.structs.has(candidate),
    );
    if (name === undefined) return this.#undeclared(expr, expr.typeName);
    this.#types.set(expr.id, structOf(name));
    const fields = expr.fields.map((field) => {
      const value = this.#check(field.value);
      const expected = this.#structField(field.id, name, field.name);
      const found = this.#contentType(value, field.isOptional);
      if (!this.#assign([expected], [found])) {
        const types = `is '${formatType(expected)}' but provided type is '${formatType(found)}'`;
        this.#report(field.id, `expected type of field '${field.name}' ${types}`);
      }
      return { ...field, value };
    });
    return { ...expr, typeName: name, fields };
  }

  #comprehension(expr: Comprehension): Expr {
    const range = this.#check(expr.range);
    const initial = this.#check(expr.initial);
    const [first, second] = this.#elementTypes(range, expr.variable2 !== undefined);
    const accumulatorType = this.#typeOf(initial);
    const outer = this.#scope;
    this.#scope = new Scope(outer);
    this.#scope.declare(expr.accumulator, accumulatorType);
    const folded = this.#scope;
    this.#scope = new Scope(folded);
    this.#scope.declare(expr.variable, first);
    if (expr.variable2 !== undefined) this.#scope.declare(expr.variable2, second);
    const condition = this.#check(expr.condition);
    this.#expectType(condition, BOOL);
    const step = this.#check(expr.step);
    this.#expectType(step, accumulatorType);
    this.#scope = folded;
    const result = this.#check(expr.result);
    this.#scope = outer;
    this.#types.set(expr.id, substitute(this.#bindings, this.#typeOf(result), false));
    return { ...expr, range, initial, condition, step, result };
  }

  /** The types of the variables of a comprehension over `range`. */
  #elementTypes(range: Expr, hasTwo: boolean): readonly [CelType, CelType] {
    const type = substitute(this.#bindings, this.#typeOf(range), false);
    const [first = DYN, second = DYN] = type.params;
    switch (type.kind as string) {
      case 'list':
        return hasTwo ? [INT, first] : [first, DYN];
      case 'map':
        return [first, second];
      case 'dyn':
      case 'error':
      case 'typeParam':
        this.#assign([DYN], [type]);
        return [DYN, DYN];
      default:
        this.#report(
          range.id,
          `expression of type '${formatType(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return [ERROR, ERROR];
    }
  }
}

/** The names of `a.b.c`; undefined for anything that is not only names. */
function qualifiersOf(expr: Expr): string[] | undefined {
  const names: string[] = [];
  let part = expr;
  while (part.kind === 'select' && !part.isTest) {
    names.unshift(part.field);
    part = part.operand;
  }
  return part.kind === 'ident' ? [part.name, ...names] : undefined;
}

/** Whether an expression has exactly the type `type`. */
export function hasType(checked: Checked, type: CelType): boolean {
  return isSameType(checked.type, type);
}
