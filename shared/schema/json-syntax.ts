import { goQuote } from '../errors/go-quote';
import { ownKeyMap } from '../own-key-map';

/**
 * Returns the syntax error of the bytes as Go's decoder reports it: the first byte that is not allowed at its
 * position. Undefined for valid JSON. It reads byte by byte, so call it only for documents that are already
 * refused.
 */
export function jsonSyntaxProblem(bytes: Buffer): string | undefined {
  try {
    new SyntaxReader(bytes).document();
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxProblem) return error.message;
    throw error;
  }
}

class SyntaxProblem extends Error {}

const SPACES: ReadonlySet<string> = new Set([' ', '\t', '\r', '\n']);
const ESCAPES: ReadonlySet<string> = new Set(['b', 'f', 'n', 'r', 't', '\\', '/', '"']);
const WORDS = ownKeyMap<string>({ t: 'true', f: 'false', n: 'null' });
const HEX_DIGITS = 4;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

type Wanted = 'value' | 'first value' | 'first key' | 'key' | 'colon' | 'end of value';

/** Bytes are treated as characters of the same number, which is how Go shows them. */
class SyntaxReader {
  readonly #bytes: Buffer;
  #next = 0;
  /** Open brackets, innermost last. */
  readonly #open: ('{' | '[')[] = [];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  document(): void {
    let wanted: Wanted | 'nothing' = 'value';
    for (;;) {
      this.#skipSpaces();
      if (wanted === 'end of value' && this.#open.length === 0) wanted = 'nothing';
      if (wanted === 'nothing') {
        if (this.#next === this.#bytes.length) return;
        throw this.#unexpected('after top-level value');
      }
      wanted = this.#step(wanted);
    }
  }

  /** Reads one token and returns what must follow it. */
  #step(wanted: Wanted): Wanted {
    switch (wanted) {
      case 'first key':
        return this.#take('}') ? this.#close() : this.#key();
      case 'key':
        return this.#key();
      case 'colon':
        if (!this.#take(':')) throw this.#unexpected('after object key');
        return 'value';
      case 'first value':
        return this.#take(']') ? this.#close() : this.#value();
      case 'value':
        return this.#value();
      case 'end of value':
        break;
    }
    return this.#afterValue();
  }

  #afterValue(): Wanted {
    const isObject = this.#open.at(-1) === '{';
    if (this.#take(',')) return isObject ? 'key' : 'value';
    if (this.#take(isObject ? '}' : ']')) return this.#close();
    throw this.#unexpected(isObject ? 'after object key:value pair' : 'after array element');
  }

  #close(): Wanted {
    this.#open.pop();
    return 'end of value';
  }

  #key(): Wanted {
    if (!this.#take('"')) throw this.#unexpected('looking for beginning of object key string');
    this.#string();
    return 'colon';
  }

  #value(): Wanted {
    const first = this.#peek();
    const word = WORDS.get(first ?? '');
    if (this.#take('{')) return this.#opened('{');
    if (this.#take('[')) return this.#opened('[');
    if (this.#take('"')) this.#string();
    else if (first === '-' || isDigit(first)) this.#number();
    else if (word !== undefined) this.#word(word);
    else throw this.#unexpected('looking for beginning of value');
    return 'end of value';
  }

  #opened(bracket: '{' | '['): Wanted {
    this.#open.push(bracket);
    return bracket === '{' ? 'first key' : 'first value';
  }

  /** Reads the rest of a string after its opening quote. */
  #string(): void {
    for (;;) {
      this.#skipPlainText();
      if (this.#take('"')) return;
      if (!this.#take('\\')) throw this.#unexpected('in string literal');
      this.#escape();
    }
  }

  /** Skips plain text without making characters of it, since most of a large document is such text. */
  #skipPlainText(): void {
    const bytes = this.#bytes;
    let next = this.#next;
    while (next < bytes.length) {
      const byte = bytes[next] ?? 0;
      if (byte < SPACE || byte === QUOTE || byte === BACKSLASH) break;
      next += 1;
    }
    this.#next = next;
  }

  #escape(): void {
    if (!this.#take('u')) {
      this.#one((character) => ESCAPES.has(character), 'in string escape code');
      return;
    }
    for (let digits = 0; digits < HEX_DIGITS; digits += 1) {
      this.#one(isHexDigit, 'in \\u hexadecimal character escape');
    }
  }

  #number(): void {
    this.#take('-');
    if (!this.#take('0')) this.#digits('in numeric literal');
    if (this.#take('.')) this.#digits('after decimal point in numeric literal');
    if (!this.#take('e') && !this.#take('E')) return;
    if (!this.#take('+')) this.#take('-');
    this.#digits('in exponent of numeric literal');
  }

  /** Reads one or more digits. */
  #digits(where: string): void {
    this.#one(isDigit, where);
    while (this.#next < this.#bytes.length && isDigit(this.#peek())) this.#next += 1;
  }

  #word(word: string): void {
    for (const character of word) {
      if (!this.#take(character)) throw this.#unexpected(`in literal ${word} (expecting '${character}')`);
    }
  }

  #one(isWanted: (character: string) => boolean, where: string): void {
    if (!isWanted(this.#peek())) throw this.#unexpected(where);
    this.#next += 1;
  }

  #skipSpaces(): void {
    while (this.#next < this.#bytes.length && SPACES.has(this.#peek())) this.#next += 1;
  }

  /** Consumes the character if it is the next one. */
  #take(character: string): boolean {
    if (this.#next === this.#bytes.length || this.#peek() !== character) return false;
    this.#next += 1;
    return true;
  }

  /** Returns the next character. Throws at the end of the bytes. */
  #peek(): string {
    const byte = this.#bytes[this.#next];
    if (byte === undefined) throw new SyntaxProblem('unexpected end of JSON input');
    return String.fromCharCode(byte);
  }

  #unexpected(where: string): SyntaxProblem {
    return new SyntaxProblem(`invalid character ${quoteCharacter(this.#peek())} ${where}`);
  }
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

function isHexDigit(character: string): boolean {
  const lower = character.toLowerCase();
  return isDigit(character) || (lower >= 'a' && lower <= 'f');
}

/** Formats a character in single quotes, in which a double quote needs no escape. */
function quoteCharacter(character: string): string {
  if (character === "'") return "'\\''";
  return character === '"' ? `'"'` : `'${goQuote(character).slice(1, -1)}'`;
}
