/** A document that is no YAML 1.1, or that JSON cannot hold. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  /** Number of the line, from 1; undefined where no line is at fault. */
  readonly line: number | undefined;

  constructor(problem: string, line?: number) {
    super(problem);
    this.line = line;
  }
}

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const NEL = 0x85;
const LINE_SEPARATOR = 0x2028;
const PARAGRAPH_SEPARATOR = 0x2029;
/** Ends the text. Documents cannot contain it. */
export const END = 0x00;

/** Line breaks of YAML 1.1; YAML 1.2 has only the first two. */
export function isBreak(char: number): boolean {
  if (char < NEL) return char === LF || char === CR;
  return char === NEL || char === LINE_SEPARATOR || char === PARAGRAPH_SEPARATOR;
}

export function isBlank(char: number): boolean {
  return char === SPACE || char === TAB;
}

export function isBreakOrEnd(char: number): boolean {
  return char === END || isBreak(char);
}

export function isBlankOrEnd(char: number): boolean {
  return isBlank(char) || isBreakOrEnd(char);
}

function isLowSurrogate(char: number): boolean {
  return char >= 0xdc00 && char <= 0xdfff;
}

/** A position in the text of a document. It only moves forward. */
export class Cursor {
  /** Ends with `END`. */
  readonly text: string;
  /** Index of the current character. */
  at = 0;
  /** Number of line breaks before it. */
  line = 0;
  #lineStart = 0;
  /** Number of characters before `#countedAt`; a pair of surrogates is one. */
  #counted = 0;
  #countedAt = 0;

  constructor(text: string) {
    this.text = `${text}\0`;
  }

  /**
   * Number of characters before the current one in the text; a pair of surrogates is one. Counts only the characters
   * since the last call, because a cursor never moves back.
   */
  get offset(): number {
    for (; this.#countedAt < this.at; this.#countedAt += 1) {
      if (!isLowSurrogate(this.text.charCodeAt(this.#countedAt))) this.#counted += 1;
    }
    return this.#counted;
  }

  /** Number of code units before the current one in its line. */
  get column(): number {
    return this.at - this.#lineStart;
  }

  /** Returns the code of the character `ahead` characters after the current one. */
  char(ahead = 0): number {
    return this.text.charCodeAt(this.at + ahead);
  }

  /** Returns the text from `start` to the current character. */
  since(start: number): string {
    return this.text.slice(start, this.at);
  }

  /** Returns whether the text continues with `expected`. */
  isAt(expected: string): boolean {
    return this.text.startsWith(expected, this.at);
  }

  /** Skips a line break, if there is one, and returns it; `\n` for each break of one or two control characters. */
  takeBreak(): string {
    const char = this.char();
    if (!isBreak(char)) return '';
    this.at += char === CR && this.char(1) === LF ? 2 : 1;
    this.#lineStart = this.at;
    this.line += 1;
    return char === LINE_SEPARATOR || char === PARAGRAPH_SEPARATOR ? String.fromCharCode(char) : '\n';
  }

  /** Begins a new line at the end of the text. */
  endLine(): void {
    if (this.column === 0) return;
    this.#lineStart = this.at;
    this.line += 1;
  }

  /** Skips and returns what a sticky pattern matches here; an empty text if it does not match. */
  match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const text = pattern.exec(this.text)?.[0] ?? '';
    this.at += text.length;
    return text;
  }

  /** Skips spaces before this column. */
  skipSpaces(columnMax = Infinity): void {
    while (this.char() === SPACE && this.column < columnMax) this.at += 1;
  }

  skipBlanks(): void {
    while (isBlank(this.char())) this.at += 1;
  }

  skipComment(): void {
    if (this.char() !== HASH) return;
    while (!isBreakOrEnd(this.char())) this.at += 1;
  }

  /** Returns whether a line begins here with `---` or `...`, and nothing else that belongs to it. */
  isAtDocumentMarker(): boolean {
    if (this.at !== this.#lineStart) return false;
    const char = this.char();
    if (char !== DASH && char !== DOT) return false;
    return this.char(1) === char && this.char(2) === char && isBlankOrEnd(this.char(3));
  }

  /** Returns an error at the current line. */
  error(problem: string): YamlError {
    return new YamlError(problem, this.line + 1);
  }
}

const HASH = 0x23;
const DASH = 0x2d;
const DOT = 0x2e;
