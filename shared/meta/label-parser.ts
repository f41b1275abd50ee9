import type { LabelOperator, LabelRequirement } from './label-requirement';
import { checkLabelKey, requirementOfKey } from './label-requirement';
import { SelectorError } from './selector-error';

/**
 * Parses `app in (a,b),tier!=x,!beta,n>5` into requirements on demand, in the order written. Messages are
 * those of kube-apiserver. Throws SelectorError.
 */
export function readRequirements(text: string): IterableIterator<LabelRequirement> {
  return new Parser(text).read();
}

const OPERATOR_OF_TOKEN: ReadonlyMap<LabelTokenKind, LabelOperator> = new Map([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['>', 'gt'],
  ['<', 'lt'],
]);

/** Recursive-descent parser. `in` and `notin` are operators only in operator position, and words otherwise. */
class Parser {
  readonly #tokens: LabelTokens;
  /** Caches validated keys, since thousands of requirements may have one key. */
  readonly #checkedKeys = new Set<string>();

  constructor(text: string) {
    this.#tokens = new LabelTokens(text);
  }

  *read(): IterableIterator<LabelRequirement> {
    if (this.#peek().kind === 'end') return;
    if (!isWord(this.#peek()) && this.#peek().kind !== '!') {
      throw new SelectorError(`found '${this.#peek().text}', expected: !, identifier, or 'end of string'`);
    }
    for (;;) {
      yield this.#requirement();
      const separator = this.#next();
      if (separator.kind === 'end') return;
      if (separator.kind !== ',') {
        throw new SelectorError(`found '${separator.text}', expected: ',' or 'end of string'`);
      }
      if (!isWord(this.#peek()) && this.#peek().kind !== '!') {
        throw new SelectorError(`found '${this.#peek().text}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): LabelRequirement {
    try {
      return this.#requirementParts();
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      throw new SelectorError(`unable to parse requirement: ${error.message}`);
    }
  }

  #requirementParts(): LabelRequirement {
    const isAbsent = this.#peek().kind === '!';
    if (isAbsent) this.#next();
    const key = this.#next();
    if (!isWord(key)) throw new SelectorError(`found '${key.text}', expected: identifier`);
    this.#checkKey(key.text);
    if (isAbsent) return requirementOfKey(key.text, '!', []);
    if (this.#peek().kind === 'end' || this.#peek().kind === ',')
      return requirementOfKey(key.text, 'exists', []);

    const sign = this.#next();
    const operator = OPERATOR_OF_TOKEN.get(sign.kind);
    if (operator === undefined) {
      // The quotes are upstream's, including the missing one.
      throw new SelectorError(`found '${sign.text}', expected: '=', '!=', '==', 'in', notin'`);
    }
    const isSet = operator === 'in' || operator === 'notin';
    return requirementOfKey(key.text, operator, isSet ? this.#valueSet() : [this.#exactValue()]);
  }

  #checkKey(key: string): void {
    if (this.#checkedKeys.has(key)) return;
    checkLabelKey(key);
    this.#checkedKeys.add(key);
  }

  #exactValue(): string {
    if (this.#peek().kind === 'end' || this.#peek().kind === ',') return '';
    const value = this.#next();
    if (!isWord(value)) throw new SelectorError(`found '${value.text}', expected: identifier`);
    return value.text;
  }

  /** Parses `(a,b)`. Nothing between a parenthesis and a comma, or between two commas, is the empty value. */
  #valueSet(): string[] {
    const open = this.#next();
    if (open.kind !== '(') throw new SelectorError(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.kind === ')') {
      this.#next();
      return [''];
    }
    if (!isWord(first) && first.kind !== ',') {
      throw new SelectorError(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = this.#values();
    this.#next();
    return values;
  }

  #values(): string[] {
    const values = new Set<string>();
    for (;;) {
      const token = this.#next();
      if (isWord(token)) {
        values.add(token.text);
        const after = this.#peek();
        if (after.kind === ')') return [...values];
        if (after.kind !== ',') throw new SelectorError(`found '${after.text}', expected: ',' or ')'`);
      } else if (token.kind === ',') {
        if (values.size === 0 || this.#peek().kind === ',') values.add('');
        if (this.#peek().kind === ')') return [...values.add('')];
      } else {
        throw new SelectorError(`found '${token.text}', expected: ',', or identifier`);
      }
    }
  }

  #peek(): LabelToken {
    return this.#tokens.peek();
  }

  #next(): LabelToken {
    return this.#tokens.next();
  }
}

function isWord({ kind }: LabelToken): boolean {
  return kind === 'word' || kind === 'in' || kind === 'notin';
}

/** Kinds of tokens of a label selector. `end` follows the last token; `word` is a key or a value. */
type LabelTokenKind = 'word' | 'end' | ')' | ',' | '!' | '==' | '=' | '>' | 'in' | '<' | '!=' | 'notin' | '(';

interface LabelToken {
  readonly kind: LabelTokenKind;
  /** The text as written; empty for `end`. */
  readonly text: string;
}

const KEYWORDS: ReadonlySet<string> = new Set(['in', 'notin']);
/** Longer symbols come first. */
const SYMBOLS = ['==', '!=', '=', '!', '(', ')', ',', '>', '<'] as const;
const SPACES = new Set([' ', '\t', '\r', '\n']);
const BREAKS = new Set([...SPACES, '=', '!', '(', ')', ',', '>', '<']);

const END: LabelToken = { kind: 'end', text: '' };

/**
 * Splits a selector into tokens on demand, so that nothing after an error is read. It never fails: everything
 * except symbols and spaces is part of a word. After the last token it returns `end` repeatedly.
 */
class LabelTokens {
  readonly #text: string;
  #position = 0;
  #ahead: LabelToken | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  peek(): LabelToken {
    this.#ahead ??= this.#read();
    return this.#ahead;
  }

  next(): LabelToken {
    const token = this.peek();
    this.#ahead = undefined;
    return token;
  }

  #read(): LabelToken {
    while (SPACES.has(this.#text.charAt(this.#position))) this.#position += 1;
    if (this.#position >= this.#text.length) return END;
    const token = symbolAt(this.#text, this.#position) ?? wordAt(this.#text, this.#position);
    this.#position += token.text.length;
    return token;
  }
}

function symbolAt(text: string, position: number): LabelToken | undefined {
  if (!BREAKS.has(text.charAt(position))) return undefined;
  const symbol = SYMBOLS.find((each) => text.startsWith(each, position));
  return symbol === undefined ? undefined : { kind: symbol, text: symbol };
}

function wordAt(text: string, position: number): LabelToken {
  let end = position;
  while (end < text.length && !BREAKS.has(text.charAt(end))) end += 1;
  const word = text.slice(position, end);
  return { kind: KEYWORDS.has(word) ? (word as 'in' | 'notin') : 'word', text: word };
}
