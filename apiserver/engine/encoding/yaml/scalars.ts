import type { Cursor } from './cursor';
import { END, isBlank, isBlankOrEnd, isBreak, isBreakOrEnd } from './cursor';

const TAB = 0x09;
const DOUBLE_QUOTE = 0x22;
const HASH = 0x23;
const SINGLE_QUOTE = 0x27;
const PLUS = 0x2b;
const MINUS = 0x2d;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** In a flow collection, each of these ends a plain scalar. */
const FLOW_ENDS: ReadonlySet<number> = new Set(Buffer.from(',?[]{}'));

/** Joins the lines of a scalar: one line break becomes a space, and more of them lose the first one. */
function fold(first: string, others: string): string {
  if (first !== '\n') return first + others;
  return others === '' ? ' ' : others;
}

/** White space between two words of a flow scalar. */
interface Gap {
  /** The blanks between the words, if they are in one line. */
  readonly blanks: string;
  /** Whether it contains a line break. */
  readonly breaksLine: boolean;
  readonly firstBreak: string;
  readonly otherBreaks: string;
}

/**
 * Reads white space. Within a plain scalar, `indent` is the first column of its lines, before which no tab may be.
 */
function readGap(cursor: Cursor, { breaksLine, indent }: { breaksLine: boolean; indent?: number }): Gap {
  const start = cursor.at;
  let [blanks, firstBreak, otherBreaks] = ['', '', ''];
  let isNewLine = breaksLine;
  for (let char = cursor.char(); isBlank(char) || isBreak(char); char = cursor.char()) {
    if (isBlank(char)) {
      if (isNewLine && char === TAB && indent !== undefined && cursor.column < indent)
        throw cursor.error('found a tab character that violates indentation');
      cursor.at += 1;
    } else if (isNewLine) {
      otherBreaks += cursor.takeBreak();
    } else {
      firstBreak = cursor.takeBreak();
      isNewLine = true;
    }
  }
  if (!isNewLine) blanks = cursor.since(start);
  return { blanks, breaksLine: isNewLine, firstBreak, otherBreaks };
}

function gapText({ blanks, breaksLine, firstBreak, otherBreaks }: Gap): string {
  return breaksLine ? fold(firstBreak, otherBreaks) : blanks;
}

/** The surroundings of a scalar. */
interface Context {
  /** Column of the innermost block collection; -1 outside any. */
  readonly indent: number;
  readonly isInFlow: boolean;
}

/** Reads a scalar without quotes. Returns whether white space with a line break follows it. */
export function readPlain(
  cursor: Cursor,
  { indent, isInFlow }: Context,
): { readonly text: string; readonly breaksLine: boolean } {
  let text = '';
  let gap: Gap | undefined;
  while (!cursor.isAtDocumentMarker() && cursor.char() !== HASH) {
    const start = cursor.at;
    skipPlainWord(cursor, isInFlow);
    if (cursor.at > start) {
      if (gap !== undefined) text += gapText(gap);
      text += cursor.since(start);
      gap = undefined;
    }
    const next = cursor.char();
    if (!isBlank(next) && !isBreak(next)) break;
    gap = readGap(cursor, { breaksLine: false, indent: indent + 1 });
    if (!isInFlow && cursor.column <= indent) break;
  }
  return { text, breaksLine: gap?.breaksLine ?? false };
}

function skipPlainWord(cursor: Cursor, isInFlow: boolean): void {
  for (let char = cursor.char(); !isBlankOrEnd(char); char = cursor.char()) {
    if (char === COLON && isBlankOrEnd(cursor.char(1))) return;
    if (isInFlow && FLOW_ENDS.has(char)) return;
    cursor.at += 1;
  }
}

/** Reads a scalar in quotes, from its first quote to the character after its last one. */
export function readQuoted(cursor: Cursor): string {
  const quote = cursor.char();
  cursor.at += 1;
  const brief = readBriefQuoted(cursor, quote);
  if (brief !== undefined) return brief;
  let text = '';
  for (;;) {
    if (cursor.isAtDocumentMarker()) throw cursor.error('found unexpected document indicator');
    if (cursor.char() === END) throw cursor.error('found unexpected end of stream');
    const { word, breaksLine } = quote === SINGLE_QUOTE ? readSingleQuoted(cursor) : readDoubleQuoted(cursor);
    text += word;
    if (cursor.char() === quote) break;
    text += gapText(readGap(cursor, { breaksLine }));
  }
  cursor.at += 1;
  return text;
}

/** Matches what ends a line, and what may begin an escape. */
const BREAK_OR_ESCAPE = /[\\\n\r\x85\u2028\u2029]/;

/** Reads the text of a scalar that has neither escapes nor line breaks; undefined for any other. */
function readBriefQuoted(cursor: Cursor, quote: number): string | undefined {
  const { text, at } = cursor;
  const end = text.indexOf(String.fromCharCode(quote), at);
  if (end < 0 || (quote === SINGLE_QUOTE && text.charCodeAt(end + 1) === SINGLE_QUOTE)) return undefined;
  const brief = text.slice(at, end);
  if (BREAK_OR_ESCAPE.test(brief)) return undefined;
  cursor.at = end + 1;
  return brief;
}

/** Text up to the next white space or the end of the scalar, and whether an escaped line break ended it. */
interface QuotedWord {
  readonly word: string;
  readonly breaksLine: boolean;
}

function readSingleQuoted(cursor: Cursor): QuotedWord {
  let word = '';
  let start = cursor.at;
  for (let char = cursor.char(); !isBlankOrEnd(char); char = cursor.char()) {
    if (char === SINGLE_QUOTE) {
      if (cursor.char(1) !== SINGLE_QUOTE) break;
      word += `${cursor.since(start)}'`;
      start = cursor.at + 2;
      cursor.at += 1;
    }
    cursor.at += 1;
  }
  return { word: word + cursor.since(start), breaksLine: false };
}

function readDoubleQuoted(cursor: Cursor): QuotedWord {
  let word = '';
  let start = cursor.at;
  for (let char = cursor.char(); !isBlankOrEnd(char) && char !== DOUBLE_QUOTE; char = cursor.char()) {
    if (char !== BACKSLASH) {
      cursor.at += 1;
      continue;
    }
    word += cursor.since(start);
    cursor.at += 1;
    if (isBreak(cursor.char())) {
      cursor.takeBreak();
      return { word, breaksLine: true };
    }
    word += readEscape(cursor);
    start = cursor.at;
  }
  return { word: word + cursor.since(start), breaksLine: false };
}

/** What single letters stand for after a backslash. Unlike JSON, YAML 1.1 has no `\/`. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ["'", "'"],
  ['\\', '\\'],
  ['N', '\x85'],
  ['_', '\xa0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);

const HEX_DIGITS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);
const CODE_POINT_MAX = 0x10ffff;

function readEscape(cursor: Cursor): string {
  const letter = cursor.text.charAt(cursor.at);
  const known = ESCAPES.get(letter);
  const length = HEX_DIGITS.get(letter);
  if (known === undefined && length === undefined) throw cursor.error('found unknown escape character');
  cursor.at += 1;
  if (length === undefined) return known ?? '';
  const digits = cursor.text.slice(cursor.at, cursor.at + length);
  if (digits.length < length || !/^[\da-f]+$/i.test(digits))
    throw cursor.error('did not find expected hexdecimal number');
  const code = parseInt(digits, 16);
  if (code > CODE_POINT_MAX || (code >= 0xd800 && code <= 0xdfff))
    throw cursor.error('found invalid Unicode character escape code');
  cursor.at += length;
  return String.fromCodePoint(code);
}

/** Reads a block scalar, from its indicator `|` or `>`. */
export function readBlock(cursor: Cursor, { indent: parentIndent }: Context): string {
  const isLiteral = cursor.isAt('|');
  cursor.at += 1;
  const { chomping, increment } = readBlockHeader(cursor);
  const given = increment === 0 ? 0 : Math.max(parentIndent, 0) + increment;
  const lines = readIndentation(cursor, given, parentIndent);
  const { indent } = lines;
  let { breaks } = lines;
  let [text, lastBreak] = ['', ''];
  let isMoreIndented = false;
  while (cursor.column === indent && cursor.char() !== END) {
    const startsBlank = isBlank(cursor.char());
    const folds = !isLiteral && !isMoreIndented && !startsBlank && lastBreak === '\n';
    text += folds ? fold(lastBreak, breaks) : lastBreak + breaks;
    isMoreIndented = startsBlank;
    const start = cursor.at;
    while (!isBreakOrEnd(cursor.char())) cursor.at += 1;
    text += cursor.since(start);
    lastBreak = cursor.takeBreak();
    ({ breaks } = readIndentation(cursor, indent, parentIndent));
  }
  if (chomping === MINUS) return text;
  return chomping === PLUS ? text + lastBreak + breaks : text + lastBreak;
}

/** Reads the indicators after `|` or `>`: what becomes of line breaks at the end, and how far lines are indented. */
function readBlockHeader(cursor: Cursor): { readonly chomping: number; readonly increment: number } {
  let [chomping, increment] = [0, 0];
  const readChomping = (): void => {
    const char = cursor.char();
    if (char !== PLUS && char !== MINUS) return;
    chomping = char;
    cursor.at += 1;
  };
  readChomping();
  const digit = cursor.text.charAt(cursor.at);
  if (/\d/.test(digit)) {
    if (digit === '0') throw cursor.error('found an indentation indicator equal to 0');
    increment = Number(digit);
    cursor.at += 1;
    if (chomping === 0) readChomping();
  }
  cursor.skipBlanks();
  cursor.skipComment();
  if (!isBreakOrEnd(cursor.char())) throw cursor.error('did not find expected comment or line break');
  cursor.takeBreak();
  return { chomping, increment };
}

/**
 * Skips indentation and empty lines up to the next line of a block scalar. With `indent` 0, the first line that is not
 * empty determines it.
 */
function readIndentation(
  cursor: Cursor,
  indent: number,
  parentIndent: number,
): { readonly indent: number; readonly breaks: string } {
  const columnMax = indent === 0 ? Infinity : indent;
  let breaks = '';
  let widest = 0;
  for (;;) {
    cursor.skipSpaces(columnMax);
    widest = Math.max(widest, cursor.column);
    if (cursor.column < columnMax && cursor.char() === TAB)
      throw cursor.error('found a tab character where an indentation space is expected');
    if (!isBreak(cursor.char())) break;
    breaks += cursor.takeBreak();
  }
  return { indent: indent === 0 ? Math.max(widest, parentIndent + 1, 1) : indent, breaks };
}
