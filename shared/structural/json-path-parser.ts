/** Thrown for an invalid path; the message says why. */
export class JsonPathError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPathError';
  }
}

/** One step of a path, which maps a list of values to another. */
export type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' }
  | { readonly kind: 'constant'; readonly value: string | number | boolean }
  | { readonly kind: 'slice'; readonly slice: Slice }
  | { readonly kind: 'union'; readonly alternatives: readonly (readonly Step[])[] }
  | { readonly kind: 'filter'; readonly filter: Filter };

export interface Slice {
  readonly start: number;
  /** Exclusive; undefined for the end of the list. */
  readonly end: number | undefined;
  readonly step: number;
  /** Selects one item by its index, which may count from the end. */
  readonly isIndex: boolean;
}

export interface Filter {
  readonly left: readonly Step[];
  readonly operator: FilterOperator;
  readonly right: readonly Step[];
}

const OPERATORS = ['==', '!=', '<=', '>=', '<', '>'] as const;
export type FilterOperator = (typeof OPERATORS)[number] | 'exists';

const PATH_CHARS_MAX = 4_096;
const STEPS_MAX = 100;
/** Deepest nesting of filters. The text of each is scanned once for every filter around it. */
const FILTER_LEVELS_MAX = 5;

/** Parses a path with kubectl's grammar for the text between braces. Throws JsonPathError. */
export function parseJsonPath(text: string): readonly Step[] {
  return stepsOf(text, 0);
}

function stepsOf(text: string, filtersAround: number): readonly Step[] {
  if (text.length > PATH_CHARS_MAX) throw new JsonPathError('the path is too long');
  if (filtersAround > FILTER_LEVELS_MAX) throw new JsonPathError('the path nests its filters too deep');
  return new PathParser(text, filtersAround).steps();
}

const FIELD = /(?:\\[^]|[^\\.,[\]$@{}\s])*/y;
const NUMBER = /[+-]?\d+(?:\.\d+)?/y;
const WORD = /\w+/y;
const SLICE = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/;
const QUOTED_KEY = /^'([^']*)'$/;

class PathParser {
  readonly #text: string;
  readonly #filtersAround: number;
  #at = 0;
  readonly #steps: Step[] = [];

  constructor(text: string, filtersAround: number) {
    this.#text = text;
    this.#filtersAround = filtersAround;
  }

  steps(): readonly Step[] {
    while (this.#at < this.#text.length) {
      this.#next();
      if (this.#steps.length > STEPS_MAX) throw new JsonPathError('the path has too many steps');
    }
    return this.#steps;
  }

  #next(): void {
    const rest = this.#text.slice(this.#at, this.#at + 3);
    const first = rest.charAt(0);
    if (rest === '[?(') this.#filter();
    else if (rest.startsWith('..')) {
      this.#at += 2;
      this.#steps.push({ kind: 'recursive' });
      if (/[^\s.,[\]$@{}]/.test(this.#text.charAt(this.#at))) this.#field();
    } else if (first === '.') {
      this.#at += 1;
      this.#field();
    } else if (first === '[') this.#brackets();
    else if (first === '"' || first === "'") this.#quoted(first);
    else if (/[\d+-]/.test(first))
      this.#steps.push({ kind: 'constant', value: Number(this.#take(NUMBER, first)) });
    else if (/\w/.test(first)) this.#word();
    else if (first === ' ' || first === '@' || first === '$') this.#at += 1;
    else throw new JsonPathError(`unrecognized character in action: ${JSON.stringify(first)}`);
  }

  #take(pattern: RegExp, what: string): string {
    pattern.lastIndex = this.#at;
    const [token] = pattern.exec(this.#text) ?? [];
    if (token === undefined) throw new JsonPathError(`cannot parse ${what}`);
    this.#at += token.length;
    return token;
  }

  #field(): void {
    const name = this.#take(FIELD, 'a field');
    this.#steps.push(
      name === '*' ? { kind: 'wildcard' } : { kind: 'field', name: name.replaceAll('\\', '') },
    );
  }

  #word(): void {
    const word = this.#take(WORD, 'a word');
    if (word !== 'true' && word !== 'false') throw new JsonPathError(`unrecognized identifier ${word}`);
    this.#steps.push({ kind: 'constant', value: word === 'true' });
  }

  #quoted(quote: string): void {
    const end = endOfQuote(this.#text, this.#at, quote);
    this.#steps.push({ kind: 'constant', value: unescape(this.#text.slice(this.#at + 1, end)) });
    this.#at = end + 1;
  }

  #brackets(): void {
    const end = this.#closing(']', 1);
    const inside = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    this.#steps.push(...stepsInBrackets(inside, this.#filtersAround));
  }

  #filter(): void {
    const end = this.#closing(')', 3);
    if (this.#text.charAt(end + 1) !== ']') throw new JsonPathError('unclosed array expect ]');
    const filter = parseFilter(this.#text.slice(this.#at + 3, end), this.#filtersAround + 1);
    this.#steps.push({ kind: 'filter', filter });
    this.#at = end + 2;
  }

  /** Returns the index of the closing character outside quotes and inner brackets. */
  #closing(close: string, skip: number): number {
    const open = close === ']' ? '[' : '(';
    let depth = 1;
    for (let index = this.#at + skip; index < this.#text.length; index += 1) {
      const character = this.#text.charAt(index);
      if (character === '"' || character === "'") index = endOfQuote(this.#text, index, character);
      else if (character === open) depth += 1;
      else if (character === close) depth -= 1;
      if (depth === 0) return index;
    }
    throw new JsonPathError('unterminated array or filter');
  }
}

function endOfQuote(text: string, start: number, quote: string): number {
  for (let index = start + 1; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '\\') index += 1;
    else if (character === quote) return index;
  }
  throw new JsonPathError('unterminated quoted string');
}

function unescape(text: string): string {
  return text.replaceAll(/\\([^])/g, '$1');
}

function stepsInBrackets(inside: string, filtersAround: number): readonly Step[] {
  if (inside === '*') return [{ kind: 'wildcard' }];
  const parts = splitUnion(inside);
  if (parts.length > 1) {
    const alternatives = parts.map((part) => stepsInBrackets(part.trim(), filtersAround));
    return [{ kind: 'union', alternatives }];
  }
  const key = QUOTED_KEY.exec(inside)?.[1];
  if (key !== undefined) return stepsOf(`.${key}`, filtersAround);
  const [, start = '', end, step = ''] = SLICE.exec(inside) ?? [];
  if (inside === '' || !SLICE.test(inside)) throw new JsonPathError(`invalid array index ${inside}`);
  const isIndex = end === undefined;
  return [
    {
      kind: 'slice',
      slice: {
        start: Number(start),
        end: isIndex || end === '' ? undefined : Number(end),
        step: step === '' ? 1 : Number(step),
        isIndex,
      },
    },
  ];
}

/** Splits at commas outside quotes. */
function splitUnion(text: string): readonly string[] {
  return text.match(/(?:'[^']*'|[^,'])+/g) ?? [];
}

function parseFilter(text: string, filtersAround: number): Filter {
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '"' || character === "'") index = endOfQuote(text, index, character);
    if (!OPERATOR_STARTS.has(character)) continue;
    const operator = OPERATORS.find((each) => text.startsWith(each, index));
    if (operator === undefined) continue;
    return {
      left: stepsOf(text.slice(0, index).trim(), filtersAround),
      operator,
      right: stepsOf(text.slice(index + operator.length).trim(), filtersAround),
    };
  }
  return { left: stepsOf(text.trim(), filtersAround), operator: 'exists', right: [] };
}

const OPERATOR_STARTS: ReadonlySet<string> = new Set(OPERATORS.map((each) => each.charAt(0)));
