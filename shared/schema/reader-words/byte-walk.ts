import { isUtf8 } from 'node:buffer';

/** What `token` answers at the end of the document. */
const END = '\0';

const SPACES: ReadonlySet<string> = new Set([' ', '\t', '\r', '\n']);
const DIGITS: ReadonlySet<string> = new Set('0123456789');
const NUMBER_CHARACTERS: ReadonlySet<string> = new Set('0123456789+-.eE');

/** A byte of a character of several is shown like one that is none. */
const NO_CHARACTER = '\uFFFD';
const CHARACTERS: readonly string[] = Array.from({ length: 0x100 }, (_, byte) =>
  byte < 0x80 ? String.fromCharCode(byte) : NO_CHARACTER,
);

/** How many bytes before and behind a problem are shown at first, and how many as its context. */
const NEAR_BYTES = 10;
const CONTEXT_BYTES = 50;

const SKIP_DEPTH_MAX = 1_000;

/** Names before a problem with more characters than this are not told. */
const PREFIX_CHARS_MAX = 8_192;

/**
 * Walks over the bytes of good JSON as upstream's reader does, which tells the first thing that does not fit, and goes on: where it comes to
 * then says which names it puts before its words. From the first problem on it never goes a byte back, and so soon reads out of step.
 */
export class ByteWalk {
  readonly #bytes: Buffer;
  #next = 0;
  #isAtEnd = false;
  /** How many lists and objects are being passed over, one in the other. */
  #skipDepth = 0;
  #problem: string | undefined;
  /** What stands before the problem, the first last. */
  readonly #prefixes: string[] = [];
  #prefixChars = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get hasProblem(): boolean {
    return this.#problem !== undefined;
  }

  /** The problem and all names before it; undefined where there is none, or there are too many names. */
  words(): string | undefined {
    if (this.#problem === undefined || this.#prefixChars > PREFIX_CHARS_MAX) return undefined;
    return this.#prefixes.toReversed().join('') + this.#problem;
  }

  /** Tells what is wrong here, unless something was wrong before. */
  report(operation: string, why: string): void {
    if (this.#problem !== undefined) return;
    this.#problem = `${operation}: ${why}, ${placeWords(this.#bytes, this.#next)}`;
  }

  /** Puts a name before the problem, if there is one. */
  prefix(name: string): void {
    if (this.#problem === undefined || this.#prefixChars > PREFIX_CHARS_MAX) return;
    this.#prefixes.push(name);
    this.#prefixChars += name.length;
  }

  /** Takes the next byte that is no space. */
  token(): string {
    for (;;) {
      const character = this.byte();
      if (!SPACES.has(character)) return character;
    }
  }

  /** Takes the next byte. */
  byte(): string {
    const byte = this.#bytes[this.#next];
    if (byte === undefined) {
      this.#isAtEnd = true;
      return END;
    }
    this.#next += 1;
    return CHARACTERS[byte] ?? NO_CHARACTER;
  }

  /** Goes one byte back. */
  unread(): void {
    if (this.#problem === undefined && !this.#isAtEnd) this.#next -= 1;
  }

  /** Takes what is left of a word. */
  rest(word: string): void {
    for (const letter of word) {
      if (this.byte() === letter) continue;
      this.report(word === 'alse' ? 'skipFourBytes' : 'skipThreeBytes', `expect ${word}`);
      return;
    }
  }

  /** Takes null, and says whether it was there. */
  takesNull(): boolean {
    if (this.token() === 'n') {
      this.rest('ull');
      return true;
    }
    this.unread();
    return false;
  }

  bool(): void {
    const token = this.token();
    if (token === 't') this.rest('rue');
    else if (token === 'f') this.rest('alse');
    else this.report('ReadBool', `expect t or f, but found ${token}`);
  }

  /** Takes a text, which may be null, and returns it. */
  text(): string {
    const token = this.token();
    if (token === '"') return this.#restOfText();
    if (token === 'n') this.rest('ull');
    else this.report('ReadString', `expects " or n, but found ${token}`);
    return '';
  }

  /** Takes the name of a field with the colon behind it; undefined for something else. */
  fieldName(): string | undefined {
    const first = this.token();
    if (first !== '"') {
      this.report('readFieldHash', `expect ", but found ${first}`);
      return undefined;
    }
    const name = this.#restOfText();
    const colon = this.token();
    if (colon === ':') return name;
    this.report('readFieldHash', `expect :, but found ${colon}`);
    return undefined;
  }

  /** Takes a number of any form. */
  number(): void {
    if (this.token() !== '-') this.unread();
    const start = this.#next;
    this.#takeWhile(NUMBER_CHARACTERS);
    if (this.#next === start) this.report('readNumberAsString', 'invalid number');
  }

  /** Takes a whole number. One with more digits than `bits` have room for may come out as another, as it does upstream. */
  integer({ name, bits, min, max }: IntegerType): void {
    let first = this.token();
    const isNegative = first === '-' && min < 0n;
    if (isNegative) first = this.byte();
    const value = this.#unsigned(first, bits);
    if (value > (isNegative ? -min : max)) this.report(name, `overflow: ${String(value)}`);
  }

  #unsigned(first: string, bits: 32 | 64): bigint {
    if (!DIGITS.has(first)) {
      this.report(`readUint${String(bits)}`, `unexpected character: ${NO_CHARACTER}`);
      return 0n;
    }
    const start = this.#next;
    if (first !== '0') this.#takeWhile(DIGITS);
    const digits = this.#bytes.toString('latin1', start, this.#next);
    let value = BigInt(first);
    for (const digit of digits) {
      const exact = value * 10n + BigInt(digit);
      const kept = BigInt.asUintN(bits, exact);
      if (kept !== exact && kept < value) {
        this.#next = start + (this.#bytes.length - start > QUICK_BYTES ? QUICK_DIGITS : 0);
        this.report(`readUint${String(bits)}`, 'overflow');
        return 0n;
      }
      value = kept;
    }
    if (this.#bytes[this.#next] === POINT) this.report('assertInteger', 'can not decode float as int');
    return value;
  }

  /** Passes over a value of any type. Out of step, where brackets of texts count, only as deep as a document may be. */
  skip(): void {
    if (this.#skipDepth >= SKIP_DEPTH_MAX) return;
    this.#skipDepth += 1;
    this.#skipValue();
    this.#skipDepth -= 1;
  }

  #skipValue(): void {
    const token = this.token();
    if (token === '"') this.#restOfText();
    else if (token === 'n') this.rest('ull');
    else if (token === 't') this.rest('rue');
    else if (token === 'f') this.rest('alse');
    else if (token === '[') this.#skipList();
    else if (token === '{') this.#skipObject();
    else if (token === '-' || DIGITS.has(token)) this.#takeWhile(NUMBER_CHARACTERS);
    else this.report('Skip', `do not know how to skip: ${String(token.charCodeAt(0))}`);
  }

  /** Passes over a value and returns its bytes. */
  skipped(): Buffer {
    this.token();
    this.unread();
    const start = this.#next;
    this.skip();
    return this.#bytes.subarray(start, this.#next);
  }

  #skipList(): void {
    this.unread();
    if (this.token() !== '[') return;
    let token = this.token();
    if (token === ']') return;
    this.unread();
    do {
      this.skip();
      token = this.token();
    } while (token === ',');
  }

  #skipObject(): void {
    this.unread();
    if (this.token() !== '{') return;
    let token = this.token();
    if (token !== '"') return;
    this.unread();
    do {
      this.text();
      this.token();
      this.skip();
      token = this.token();
    } while (token === ',');
  }

  /** What is behind the quote that opens a text. Out of step there may be none that closes it before the line ends. */
  #restOfText(): string {
    const start = this.#next;
    let hasEscapes = false;
    for (let at = start; at < this.#bytes.length; at += 1) {
      const byte = this.#bytes[at] ?? 0;
      if (byte === QUOTE) {
        this.#next = at + 1;
        const text = this.#bytes.toString('utf8', start, at);
        return hasEscapes ? unescaped(text) : text;
      }
      if (byte >= SPACE && byte !== BACKSLASH) continue;
      if (this.#problem !== undefined) break;
      hasEscapes = true;
      at += 1;
    }
    return '';
  }

  #takeWhile(characters: ReadonlySet<string>): void {
    while (characters.has(CHARACTERS[this.#bytes[this.#next] ?? 0] ?? NO_CHARACTER)) this.#next += 1;
  }
}

/** Where a problem was found, with what stands around it. */
function placeWords(bytes: Buffer, at: number): string {
  const around = (reach: number): string =>
    utf8Text(bytes.subarray(Math.max(0, at - reach), Math.min(bytes.length, at + reach)));
  return (
    `error found in #${String(Math.min(at, NEAR_BYTES))} byte of ` +
    `...|${around(NEAR_BYTES)}|..., bigger context ...|${around(CONTEXT_BYTES)}|...`
  );
}

/** The same of a problem that shows when all of the document has been read. */
export function tailWords(bytes: Buffer): string {
  return placeWords(bytes, bytes.length);
}

/** A type of whole numbers: how upstream calls its reader, and what it holds. */
export interface IntegerType {
  readonly name: string;
  readonly bits: 32 | 64;
  readonly min: bigint;
  readonly max: bigint;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const POINT = 0x2e;

/** Where so many bytes follow the first digit, the next seven are read before anything can be too much. */
const QUICK_BYTES = 10;
const QUICK_DIGITS = 7;

function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    // Out of step nobody needs it.
    return text;
  }
}

/** Bytes that may begin or end within a character: each that is part of none is shown as one that is none. */
function utf8Text(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (!text.includes(NO_CHARACTER)) return text;
  let shown = '';
  for (let at = 0; at < bytes.length;) {
    const length = CHARACTER_BYTES.find((each) => isUtf8(bytes.subarray(at, at + each))) ?? 0;
    shown += length === 0 ? NO_CHARACTER : bytes.toString('utf8', at, at + length);
    at += Math.max(length, 1);
  }
  return shown;
}

const CHARACTER_BYTES: readonly number[] = [1, 2, 3, 4];
