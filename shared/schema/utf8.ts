import { NumberText } from '../object/exact-text';

/** U+FFFD in UTF-8. */
const REPLACEMENT = [0xef, 0xbf, 0xbd] as const;

/**
 * Decodes UTF-8. As in Go, each byte that is no part of a character becomes U+FFFD of its own; Node makes one of several
 * bytes that begin a character.
 */
export function decodeUtf8(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (!text.includes('\ufffd')) return text;
  const valid = Buffer.allocUnsafe(bytes.length * REPLACEMENT.length);
  let size = 0;
  for (let at = 0; at < bytes.length;) {
    const length = characterLength(bytes, at);
    if (length === 0) for (const byte of REPLACEMENT) valid[size++] = byte;
    for (let index = 0; index < length; index += 1) valid[size++] = bytes[at + index] ?? 0;
    at += Math.max(length, 1);
  }
  return valid.toString('utf8', 0, size);
}

/** Returns the number of bytes of the character that begins at `at`; 0 if none does. */
function characterLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (let index = 1; index < length; index += 1) {
    const byte = bytes[at + index] ?? 0;
    const least = index > 1 ? 0x80 : first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    const most = index > 1 ? 0xbf : first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    if (byte < least || byte > most) return 0;
  }
  return length;
}

const UNICODE_ESCAPE = Buffer.from('\\u');
/** Matches the escape of a half of a surrogate pair. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Returns whether a JSON document can contain lone surrogates, which only an escape can express. */
export function mayHaveLoneSurrogates(bytes: Buffer, text: string): boolean {
  // Most documents have no such escape, and the search in bytes is ten times faster.
  return bytes.includes(UNICODE_ESCAPE) && SURROGATE_ESCAPE.test(text);
}

/** Replaces the lone surrogates in a JSON value by U+FFFD, as Go does. */
export function withoutLoneSurrogates(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(LONE_SURROGATE, '\ufffd');
  if (typeof value !== 'object' || value === null || value instanceof NumberText) return value;
  if (Array.isArray(value)) return value.map(withoutLoneSurrogates);
  const entries = Object.entries(value).map(
    ([key, each]) => [key.replaceAll(LONE_SURROGATE, '\ufffd'), withoutLoneSurrogates(each)] as const,
  );
  return Object.fromEntries(entries);
}
