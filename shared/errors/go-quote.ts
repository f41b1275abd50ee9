import { ownKeyMap } from '../own-key-map';

/** What stands in quotes as it is. */
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

/** The text in double quotes as Go's `%q` writes it: whatever cannot be printed is escaped, so that it is seen in a message. */
export function goQuote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return `"${text.replace(NEEDS_ESCAPES, (character) => ESCAPES.get(character) ?? codeEscape(character))}"`;
}

/** Four characters for a byte are told of no longer text. */
const BYTES_TOLD_MAX = 1_024;

/**
 * The text in double quotes as Go's readers of times and durations write it: by its bytes where it is not plain ASCII. What is longer than
 * 1,024 characters, and none that anybody meant, is written as any other text, and so not four times as long.
 */
export function goTimeQuote(text: string): string {
  if (text.length > BYTES_TOLD_MAX || PLAIN.test(text)) return goQuote(text);
  let quoted = '';
  for (const byte of Buffer.from(text)) quoted += TIME_BYTES[byte] ?? '';
  return `"${quoted}"`;
}

/** Each byte as it stands between such quotes. */
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
