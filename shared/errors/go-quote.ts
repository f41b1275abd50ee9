import { ownKeyMap } from '../own-key-map';

/** Matches text that needs no escapes. */
const PLAIN = /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/;
const NEEDS_ESCAPES = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

const ESCAPES = ownKeyMap<string>({
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
});

/** Quotes text as Go's `%q`: characters that are not printable are escaped. */
export function goQuote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return `"${text.replace(NEEDS_ESCAPES, (character) => ESCAPES.get(character) ?? codeEscape(character))}"`;
}

/** Longest text that is escaped by byte, which takes four characters each. */
const BYTES_TOLD_MAX = 1_024;

/**
 * Quotes text as Go's parsers of times and durations do, which escape bytes beyond ASCII. Text above 1,024
 * characters is quoted as usual, so that it does not become four times as long.
 */
export function goTimeQuote(text: string): string {
  if (text.length > BYTES_TOLD_MAX || PLAIN.test(text)) return goQuote(text);
  let quoted = '';
  for (const byte of Buffer.from(text)) quoted += TIME_BYTES[byte] ?? '';
  return `"${quoted}"`;
}

/** Escape of each byte. */
const TIME_BYTES: readonly string[] = Array.from({ length: 256 }, (_none, byte) => {
  const character = String.fromCharCode(byte);
  if (character === '"' || character === '\\') return `\\${character}`;
  return byte < 0x20 || byte > 0x7f ? `\\x${byte.toString(16).padStart(2, '0')}` : character;
});

function codeEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code < 0x80) return `\\x${digits.padStart(2, '0')}`;
  return code < 0x1_00_00 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}
