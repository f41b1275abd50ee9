import type { FunctionDeclaration, Implementation } from '../check/declarations';
import { DYN, INT, STRING, listOf } from '../check/types';
import { ArrayList, EvalError, ListValue, NO_OVERLOAD } from '../eval/values';
import type { Result, Value } from '../eval/values';
import { describeValue } from '../eval/select';
import { formatText } from './format-text';
import { declare, global, method, onStrings } from './functions';

const STRINGS = listOf(STRING);
/** Release 1.29 has version 2 of cel-go's library: `format` and `strings.quote`. */
const VERSION_2_SINCE = 29;

const QUOTED = new Map([
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);

/** The most characters that replacements add; upstream has no limit and runs out of memory. */
const RESULT_LENGTH_MAX = 16_000_000;

function outOfRange(index: bigint | number): EvalError {
  return new EvalError(`index out of range: ${index}`);
}

/** An implementation over a text and numbers, and possibly a second text. */
function onText(run: (text: string, rest: Value[]) => Result): Implementation {
  return (text, ...rest) => (typeof text === 'string' ? run(text, rest) : NO_OVERLOAD);
}

function toStrings(texts: readonly string[]): ListValue {
  return new ArrayList(Array.from(texts));
}

const charAt = onText((text, [index]) => {
  if (typeof index !== 'bigint') return NO_OVERLOAD;
  const characters = Array.from(text);
  if (index < 0n || index > BigInt(characters.length)) return outOfRange(index);
  return characters[Number(index)] ?? '';
});

const indexOf = onText((text, [part, from = 0n]) => {
  if (typeof part !== 'string' || typeof from !== 'bigint') return NO_OVERLOAD;
  if (from < 0n) return outOfRange(from);
  const characters = Array.from(text);
  if (part === '') return from > BigInt(characters.length) ? BigInt(characters.length) : from;
  if (from >= BigInt(characters.length)) return -1n;
  const skipped = characters.slice(0, Number(from)).join('').length;
  const found = text.indexOf(part, skipped);
  return found < 0 ? -1n : BigInt(Array.from(text.slice(0, found)).length);
});

const lastIndexOf = onText((text, [part, from]) => {
  if (typeof part !== 'string' || (from !== undefined && typeof from !== 'bigint')) return NO_OVERLOAD;
  const length = BigInt(Array.from(text).length);
  if (from !== undefined && from < 0n) return outOfRange(from);
  if (part === '') return from === undefined || from > length ? length : from;
  if (from !== undefined && from >= length) return -1n;
  const start = from === undefined ? text.length : Array.from(text).slice(0, Number(from)).join('').length;
  const found = text.lastIndexOf(part, start);
  return found < 0 ? -1n : BigInt(Array.from(text.slice(0, found)).length);
});

const substring = onText((text, [start, end]) => {
  if (typeof start !== 'bigint' || (end !== undefined && typeof end !== 'bigint')) return NO_OVERLOAD;
  const characters = Array.from(text);
  const length = BigInt(characters.length);
  if (end !== undefined && start > end) {
    return new EvalError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  if (start < 0n || start > length) return outOfRange(start);
  if (end !== undefined && (end < 0n || end > length)) return outOfRange(end);
  return characters.slice(Number(start), end === undefined ? undefined : Number(end)).join('');
});

const replace = onText((text, [from, to, limit]) => {
  if (typeof from !== 'string' || typeof to !== 'string') return NO_OVERLOAD;
  if (limit !== undefined && typeof limit !== 'bigint') return NO_OVERLOAD;
  const count = from === '' ? text.length + 1 : text.split(from).length - 1;
  if (count * to.length > RESULT_LENGTH_MAX)
    return new EvalError('operation cancelled: actual cost limit exceeded');
  if (limit === undefined || limit < 0n)
    return from === '' ? surround(text, to, Infinity) : text.replaceAll(from, () => to);
  if (from === '') return surround(text, to, Number(limit));
  const parts = text.split(from);
  const replaced = Math.min(Number(limit), parts.length - 1);
  return [parts.slice(0, replaced + 1).join(to), ...parts.slice(replaced + 1)].join(from);
});

/** Puts a text before each character and after the last one, as replacing the empty text does. */
function surround(text: string, insert: string, limit: number): string {
  const characters = Array.from(text);
  const count = Math.min(limit, characters.length + 1);
  const parts = characters.map((character, index) => (index < count ? insert : '') + character);
  return parts.join('') + (count > characters.length ? insert : '');
}

const split = onText((text, [separator, limit]) => {
  if (typeof separator !== 'string' || (limit !== undefined && typeof limit !== 'bigint')) return NO_OVERLOAD;
  if (limit === 0n) return toStrings([]);
  const parts = separator === '' ? Array.from(text) : text.split(separator);
  if (limit === undefined || limit < 0n || BigInt(parts.length) <= limit) return toStrings(parts);
  const count = Number(limit) - 1;
  return toStrings([...parts.slice(0, count), parts.slice(count).join(separator)]);
});

function join(list?: Value, separator: Value = ''): Result {
  if (!(list instanceof ListValue) || typeof separator !== 'string') return NO_OVERLOAD;
  const texts: string[] = [];
  for (const item of list) {
    if (typeof item !== 'string') return new EvalError(`join: invalid input: ${describeValue(item)}`);
    texts.push(item);
  }
  return texts.join(separator);
}

function quote(text = ''): Result {
  const characters = Array.from(text, (character) => QUOTED.get(character) ?? character);
  return `"${characters.join('').replaceAll(/[\ud800-\udfff]/gu, '\ufffd')}"`;
}

/** What Go's `unicode.IsSpace` calls white space. */
const SPACE = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+';
const OUTER_SPACE = new RegExp(`^${SPACE}|${SPACE}$`, 'gu');

/** cel-go's extended strings library (`ext/strings.go`), version 2. */
export const STRING_FUNCTIONS: readonly FunctionDeclaration[] = [
  declare('charAt', 0, method('string_char_at_int', [STRING, INT], STRING, charAt)),
  declare(
    'indexOf',
    0,
    method('string_index_of_string', [STRING, STRING], INT, indexOf),
    method('string_index_of_string_int', [STRING, STRING, INT], INT, indexOf),
  ),
  declare(
    'lastIndexOf',
    0,
    method('string_last_index_of_string', [STRING, STRING], INT, lastIndexOf),
    method('string_last_index_of_string_int', [STRING, STRING, INT], INT, lastIndexOf),
  ),
  declare(
    'lowerAscii',
    0,
    method(
      'string_lower_ascii',
      [STRING],
      STRING,
      onStrings((text = '') => text.replaceAll(/[A-Z]+/gu, (part) => part.toLowerCase())),
    ),
  ),
  declare(
    'replace',
    0,
    method('string_replace_string_string', [STRING, STRING, STRING], STRING, replace),
    method('string_replace_string_string_int', [STRING, STRING, STRING, INT], STRING, replace),
  ),
  declare(
    'split',
    0,
    method('string_split_string', [STRING, STRING], STRINGS, split),
    method('string_split_string_int', [STRING, STRING, INT], STRINGS, split),
  ),
  declare(
    'substring',
    0,
    method('string_substring_int', [STRING, INT], STRING, substring),
    method('string_substring_int_int', [STRING, INT, INT], STRING, substring),
  ),
  declare(
    'trim',
    0,
    method(
      'string_trim',
      [STRING],
      STRING,
      onStrings((text = '') => text.replaceAll(OUTER_SPACE, '')),
    ),
  ),
  declare(
    'upperAscii',
    0,
    method(
      'string_upper_ascii',
      [STRING],
      STRING,
      onStrings((text = '') => text.replaceAll(/[a-z]+/gu, (part) => part.toUpperCase())),
    ),
  ),
  declare(
    'format',
    VERSION_2_SINCE,
    method('string_format', [STRING, listOf(DYN)], STRING, (text, list) =>
      typeof text === 'string' && list instanceof ListValue ? formatText(text, list) : NO_OVERLOAD,
    ),
  ),
  declare('strings.quote', VERSION_2_SINCE, global('strings_quote', [STRING], STRING, onStrings(quote))),
  declare(
    'join',
    0,
    method('list_join', [STRINGS], STRING, join),
    method('list_join_string', [STRINGS, STRING], STRING, join),
  ),
];
