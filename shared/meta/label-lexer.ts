/** Kinds of tokens of a label selector. `end` follows the last token; `word` is a key or a value. */
export type LabelTokenKind =
  'word' | 'end' | ')' | ',' | '!' | '==' | '=' | '>' | 'in' | '<' | '!=' | 'notin' | '(';

export interface LabelToken {
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
export class LabelTokens {
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
