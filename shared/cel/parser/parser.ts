import { MacroError } from './ast';
import type { Expr, MapEntry, StructField } from './ast';
import { tokenize } from './lexer';
import type { Token } from './lexer';
import type { Macro } from './macros';
import { parseLiteral } from './literals';
import { Issues } from './source';
import { TreeBuilder } from './tree-builder';

/** The longest expression, in characters (cel-go: `expressionSizeCodePointLimit`). */
const CHARACTERS_MAX = 100_000;
/** How deep an expression may nest (cel-go: `maxRecursionDepth`). */
const DEPTH_MAX = 250;

const RESERVED = new Set(
  (
    'as break const continue else false for function if import in let loop package namespace null return true var void ' +
    'while'
  ).split(' '),
);
const OPERAND_SET =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
/** The binary operators by precedence, weakest first; `&&` and `||` are balanced instead. */
const RELATIONS = new Set(['<', '<=', '>=', '>', '==', '!=', 'in']);
const SUMS = new Set(['+', '-']);
const PRODUCTS = new Set(['*', '/', '%']);

export interface ParseOptions {
  readonly macros: readonly Macro[];
  /** Whether `a.?b`, `a[?b]`, `[?a]` and `{?a: b}` are allowed. */
  readonly hasOptionals: boolean;
  /** Whether names in backquotes are allowed, as in a.`b-c`. */
  readonly hasEscapedNames?: boolean;
}

export interface Parsed {
  readonly source: string;
  readonly expr: Expr;
  /** Offset of each node, in UTF-16 units of the source. */
  readonly offsets: ReadonlyMap<number, number>;
}

/** Ends parsing at the first syntax error, which is reported already. */
class SyntaxStop extends Error {}

/**
 * Parses an expression and expands its macros.
 *
 * @returns the tree, or the issues when there are any
 */
export function parse(source: string, options: ParseOptions): Parsed | Issues {
  const issues = new Issues(source);
  const characters = Array.from(source).length;
  if (characters > CHARACTERS_MAX) {
    issues.report(
      -1,
      `expression code point size exceeds limit: size: ${characters}, limit ${CHARACTERS_MAX}`,
    );
    return issues;
  }
  const build = new TreeBuilder();
  try {
    const expr = new Parser(tokenize(source, issues), { options, issues, build }).parse();
    return issues.isEmpty ? { source, expr, offsets: build.offsets } : issues;
  } catch (error) {
    if (!(error instanceof SyntaxStop)) throw error;
    return issues;
  }
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #options: ParseOptions;
  readonly #issues: Issues;
  readonly #build: TreeBuilder;
  readonly #macros: ReadonlyMap<string, Macro>;
  #next = 0;
  #depth = 0;

  constructor(
    tokens: readonly Token[],
    parts: { options: ParseOptions; issues: Issues; build: TreeBuilder },
  ) {
    this.#tokens = tokens;
    this.#options = parts.options;
    this.#issues = parts.issues;
    this.#build = parts.build;
    this.#macros = new Map(
      parts.options.macros.map((macro) => [macroKey(macro.name, macro.argCount, macro.isMember), macro]),
    );
  }

  parse(): Expr {
    const expr = this.#ternary();
    if (this.#token.kind !== 'end') this.#unexpected('<EOF>');
    return expr;
  }

  get #token(): Token {
    return this.#tokens[this.#next] ?? { kind: 'end', text: '<EOF>', offset: 0 };
  }

  #take(): Token {
    const token = this.#token;
    if (token.kind !== 'end') this.#next += 1;
    return token;
  }

  #is(text: string): boolean {
    return (
      (this.#token.kind === 'punctuation' || this.#token.kind === 'keyword') && this.#token.text === text
    );
  }

  #accept(text: string): Token | undefined {
    return this.#is(text) ? this.#take() : undefined;
  }

  #expect(text: string): Token {
    return this.#accept(text) ?? this.#unexpected(`'${text}'`);
  }

  /** Reports the next token: as superfluous when the one after it would fit, as wrong otherwise. */
  #unexpected(expected: string): never {
    const { text, kind, offset } = this.#token;
    const after = this.#tokens[this.#next + 1];
    const fits =
      expected === '<EOF>' ? after?.kind === 'end' : after !== undefined && expected === `'${after.text}'`;
    const problem = kind !== 'end' && fits ? 'extraneous' : 'mismatched';
    this.#issues.report(offset, `Syntax error: ${problem} input '${text}' expecting ${expected}`);
    throw new SyntaxStop();
  }

  #enter(levels: number): void {
    if (this.#depth + levels <= DEPTH_MAX) return;
    this.#issues.report(-1, 'max recursion depth exceeded');
    throw new SyntaxStop();
  }

  /** `e ? e1 : e2` */
  #ternary(): Expr {
    this.#depth += 1;
    this.#enter(0);
    const condition = this.#logical('||', () => this.#logical('&&', () => this.#relation()));
    const mark = this.#accept('?');
    let expr = condition;
    if (mark !== undefined) {
      const ifTrue = this.#logical('||', () => this.#logical('&&', () => this.#relation()));
      this.#expect(':');
      const ifFalse = this.#ternary();
      expr = this.#call(mark.offset, '_?_:_', { args: [condition, ifTrue, ifFalse] });
    }
    this.#depth -= 1;
    return expr;
  }

  /** Chains of one logical operator become a balanced tree, so that long chains do not nest deeply. */
  #logical(operator: '||' | '&&', term: () => Expr): Expr {
    const terms = [term()];
    const offsets: number[] = [];
    for (let mark = this.#accept(operator); mark !== undefined; mark = this.#accept(operator)) {
      offsets.push(mark.offset);
      terms.push(term());
    }
    const tree = (low: number, high: number): Expr => {
      const middle = Math.floor((low + high + 1) / 2);
      const left = middle === low ? terms[middle] : tree(low, middle - 1);
      const right = middle === high ? terms[middle + 1] : tree(middle + 1, high);
      return this.#call(offsets[middle] ?? 0, `_${operator}_`, { args: left && right ? [left, right] : [] });
    };
    return terms.length === 1 && terms[0] !== undefined ? terms[0] : tree(0, offsets.length - 1);
  }

  #relation(): Expr {
    return this.#binary(RELATIONS, () =>
      this.#binary(SUMS, () => this.#binary(PRODUCTS, () => this.#unary())),
    );
  }

  #binary(operators: ReadonlySet<string>, operand: () => Expr): Expr {
    let left = operand();
    for (let levels = 1; operators.has(this.#token.text) && this.#is(this.#token.text); levels += 1) {
      this.#enter(levels);
      const { text, offset } = this.#take();
      left = this.#call(offset, text === 'in' ? '@in' : `_${text}_`, { args: [left, operand()] });
    }
    return left;
  }

  #unary(): Expr {
    for (const [sign, name] of [
      ['!', '!_'],
      ['-', '-_'],
    ] as const) {
      const first = this.#token;
      let count = 0;
      while (this.#accept(sign) !== undefined) count += 1;
      if (count === 0) continue;
      const isNumber = this.#token.kind === 'int' || this.#token.kind === 'double';
      if (sign === '-' && count === 1 && isNumber) return this.#member(this.#literal(first));
      const operand = this.#member(this.#primary());
      return count % 2 === 0 ? operand : this.#call(first.offset, name, { args: [operand] });
    }
    return this.#member(this.#primary());
  }

  #literal(sign?: Token): Expr {
    const token = this.#take();
    const offset = (sign ?? token).offset;
    return this.#build.literal(
      offset,
      parseLiteral(token, sign !== undefined, (text) => this.#issues.report(offset, text)),
    );
  }

  #primary(): Expr {
    const token = this.#token;
    if (token.kind === 'identifier' || this.#is('.')) return this.#name();
    if (this.#accept('(') !== undefined) {
      const inner = this.#ternary();
      this.#expect(')');
      return inner;
    }
    if (this.#accept('[') !== undefined) return this.#list(token.offset);
    if (this.#accept('{') !== undefined) return this.#map(token.offset);
    const isWord = token.kind === 'keyword' && token.text !== 'in';
    if (isWord || ['int', 'uint', 'double', 'string', 'bytes'].includes(token.kind)) return this.#literal();
    return this.#unexpectedOperand();
  }

  #unexpectedOperand(): never {
    const { text, kind, offset } = this.#token;
    const after = this.#tokens[this.#next + 1];
    const startsOperand =
      after !== undefined &&
      (after.kind === 'identifier' || /^(?:int|uint|double|string|bytes)$/u.test(after.kind));
    const problem = kind !== 'end' && startsOperand ? 'extraneous' : 'mismatched';
    this.#issues.report(offset, `Syntax error: ${problem} input '${text}' expecting ${OPERAND_SET}`);
    throw new SyntaxStop();
  }

  /** A variable, a call of a function, or a message. */
  #name(): Expr {
    const start = this.#token;
    const dot = this.#accept('.') === undefined ? '' : '.';
    if (this.#token.kind !== 'identifier') this.#unexpected('IDENTIFIER');
    const token = this.#take();
    const message = this.#messageName(`${dot}${token.text}`);
    if (message !== undefined) return this.#message(message);
    const open = this.#accept('(');
    const args = open === undefined ? [] : this.#args();
    if (RESERVED.has(token.text)) {
      this.#issues.report(start.offset, `reserved identifier: ${token.text}`);
      return this.#build.ident(start.offset, token.text);
    }
    const name = `${dot}${token.text}`;
    return open === undefined
      ? this.#build.ident(token.offset, name)
      : this.#call(open.offset, name, { args });
  }

  /** Returns the whole name when names and dots lead to a `{`, and takes them; undefined when they do not. */
  #messageName(first: string): string | undefined {
    let name = first;
    let next = this.#next;
    while (this.#tokens[next]?.text === '.' && this.#tokens[next + 1]?.kind === 'identifier') {
      name += `.${this.#tokens[next + 1]?.text ?? ''}`;
      next += 2;
    }
    const brace = this.#tokens[next];
    if (brace?.kind !== 'punctuation' || brace.text !== '{') return undefined;
    this.#next = next;
    return name;
  }

  #message(typeName: string): Expr {
    const id = this.#build.id(this.#expect('{').offset);
    const fields: StructField[] = [];
    while (!this.#is('}')) {
      const isOptional = this.#optionalMark();
      const name = this.#fieldName();
      const colon = this.#expect(':');
      fields.push({ id: this.#build.id(colon.offset), name, value: this.#ternary(), isOptional });
      if (this.#accept(',') === undefined) break;
    }
    this.#expect('}');
    return { kind: 'struct', id, typeName, fields };
  }

  #optionalMark(): boolean {
    const mark = this.#accept('?');
    if (mark !== undefined && !this.#options.hasOptionals)
      this.#issues.report(mark.offset, "unsupported syntax '?'");
    return mark !== undefined;
  }

  #fieldName(): string {
    const token = this.#take();
    if (token.kind === 'identifier') return token.text;
    if (token.kind === 'escaped') {
      if (this.#options.hasEscapedNames !== true)
        this.#issues.report(token.offset, "unsupported syntax: '`'");
      return token.text.slice(1, -1);
    }
    if (token.kind !== 'end') this.#next -= 1;
    return this.#unexpected('IDENTIFIER');
  }

  #args(): Expr[] {
    const args: Expr[] = [];
    if (this.#accept(')') !== undefined) return args;
    do args.push(this.#ternary());
    while (this.#accept(',') !== undefined);
    this.#expect(')');
    return args;
  }

  #list(offset: number): Expr {
    const id = this.#build.id(offset);
    const elements: Expr[] = [];
    const optional = new Set<number>();
    while (!this.#is(']')) {
      if (this.#optionalMark()) optional.add(elements.length);
      elements.push(this.#ternary());
      if (this.#accept(',') === undefined) break;
    }
    this.#expect(']');
    return { kind: 'list', id, elements, optional };
  }

  #map(offset: number): Expr {
    const id = this.#build.id(offset);
    const entries: MapEntry[] = [];
    while (!this.#is('}')) {
      const isOptional = this.#optionalMark();
      const key = this.#ternary();
      const colon = this.#expect(':');
      entries.push({ id: this.#build.id(colon.offset), key, value: this.#ternary(), isOptional });
      if (this.#accept(',') === undefined) break;
    }
    this.#expect('}');
    return { kind: 'map', id, entries };
  }

  /** Selections, calls and indices after an operand. */
  #member(operand: Expr): Expr {
    let expr = operand;
    for (let levels = 1; ; levels += 1) {
      this.#enter(levels);
      const mark = this.#accept('.') ?? this.#accept('[');
      if (mark === undefined) return expr;
      expr = mark.text === '.' ? this.#selection(expr, mark) : this.#index(expr, mark);
    }
  }

  #selection(operand: Expr, dot: Token): Expr {
    const isOptional = this.#accept('?') !== undefined;
    if (isOptional && !this.#options.hasOptionals) this.#issues.report(dot.offset, "unsupported syntax '.?'");
    const { offset } = this.#token;
    const field = this.#fieldName();
    if (isOptional) {
      return this.#build.call(dot.offset, '_?._', [operand, this.#build.literal(offset, field)]);
    }
    const open = this.#accept('(');
    if (open !== undefined) return this.#call(open.offset, field, { target: operand, args: this.#args() });
    return { kind: 'select', id: this.#build.id(dot.offset), operand, field, isTest: false };
  }

  #index(operand: Expr, bracket: Token): Expr {
    const isOptional = this.#accept('?') !== undefined;
    if (isOptional && !this.#options.hasOptionals)
      this.#issues.report(bracket.offset, "unsupported syntax '[?'");
    const index = this.#ternary();
    this.#expect(']');
    return this.#call(bracket.offset, isOptional ? '_[?_]' : '_[_]', { args: [operand, index] });
  }

  #call(offset: number, name: string, { target, args }: { target?: Expr; args: readonly Expr[] }): Expr {
    const macro = this.#macros.get(macroKey(name, args.length, target !== undefined));
    try {
      const expanded = macro?.expand({ build: this.#build, offset, target, args });
      if (expanded !== undefined) return expanded;
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      this.#issues.report(this.#build.offsetOf(error.id), error.message);
      return this.#build.ident(offset, name);
    }
    const id = this.#build.id(offset);
    return target === undefined ? { kind: 'call', id, name, args } : { kind: 'call', id, name, target, args };
  }
}

function macroKey(name: string, argCount: number, isMember: boolean): string {
  return `${name}:${argCount}:${isMember}`;
}
