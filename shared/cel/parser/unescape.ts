const SIMPLE_ESCAPES = new Map([
  ['a', 0x07],
  ['b', 0x08],
  ['f', 0x0c],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
  ['v', 0x0b],
  ['\\', 0x5c],
  ["'", 0x27],
  ['"', 0x22],
  ['`', 0x60],
  ['?', 0x3f],
]);

/** Thrown for a literal that the lexer accepts and whose escapes mean nothing; the message is cel-go's. */
export class LiteralError extends Error {}

/**
 * Returns the text of a string literal, quotes and prefix included, as cel-go's `unescape` does.
 *
 * @throws LiteralError for an invalid escape or code point
 */
export function unescapeString(literal: string): string {
  const body = literalBody(literal);
  if (body.isRaw || !body.text.includes('\\')) return body.text;
  let result = '';
  forEachUnit(body.text, (value) => {
    if (typeof value === 'string') result += value;
    else if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
      throw new LiteralError('invalid unicode code point');
    else result += String.fromCodePoint(value);
  });
  return result;
}

/**
 * Returns the bytes of a bytes literal without its `b`: text as UTF-8, octal and hexadecimal escapes as single bytes.
 *
 * @throws LiteralError for an escape that has no meaning in bytes
 */
export function unescapeBytes(literal: string): Uint8Array {
  const body = literalBody(literal);
  if (body.isRaw) return Buffer.from(body.text);
  const parts: Buffer[] = [];
  forEachUnit(body.text, (value, escape) => {
    if (typeof value === 'string') parts.push(Buffer.from(value));
    else if (escape === 'u' || escape === 'U') throw new LiteralError('unable to unescape string');
    else parts.push(Buffer.from([value]));
  });
  return Buffer.concat(parts);
}

function literalBody(literal: string): { text: string; isRaw: boolean } {
  const normalized = literal.replaceAll(/\r\n?/gu, '\n');
  const isRaw = /^[rR]/u.test(normalized);
  const quoted = isRaw ? normalized.slice(1) : normalized;
  const width = quoted.length >= 6 && (quoted.startsWith('"""') || quoted.startsWith("'''")) ? 3 : 1;
  return { text: quoted.slice(width, quoted.length - width), isRaw };
}

/** Passes each run of plain text as a string, and each escape as its number with the letter that starts it. */
function forEachUnit(text: string, take: (value: string | number, escape?: string) => void): void {
  let index = 0;
  while (index < text.length) {
    const next = text.indexOf('\\', index);
    if (next < 0) {
      take(text.slice(index));
      return;
    }
    if (next > index) take(text.slice(index, next));
    const letter = text[next + 1] ?? '';
    const simple = SIMPLE_ESCAPES.get(letter);
    if (simple !== undefined) {
      take(simple, letter);
      index = next + 2;
      continue;
    }
    const digits = digitsOf(text, next + 1, letter);
    take(digits.value, letter);
    index = digits.end;
  }
}

function digitsOf(text: string, start: number, letter: string): { value: number; end: number } {
  const width = { x: 2, X: 2, u: 4, U: 8 }[letter];
  if (width !== undefined) {
    const hex = text.slice(start + 1, start + 1 + width);
    if (hex.length < width || !/^[0-9a-fA-F]+$/u.test(hex))
      throw new LiteralError('unable to unescape string');
    return { value: Number.parseInt(hex, 16), end: start + 1 + width };
  }
  if (!/^[0-3]$/u.test(letter)) throw new LiteralError('unable to unescape string');
  const octal = text.slice(start, start + 3);
  if (!/^[0-7]{3}$/u.test(octal)) throw new LiteralError('unable to unescape octal sequence in string');
  return { value: Number.parseInt(octal, 8), end: start + 3 };
}
