import { isDate } from '../../../../shared/meta/time';
import { decodeUtf8 } from '../../../../shared/schema/utf8';
import { YamlError } from './cursor';
import type { ScalarNode } from './parser';
import { TAG_PREFIX } from './parser';

export interface Resolved {
  readonly type: 'str' | 'bool' | 'int' | 'float' | 'null' | 'merge';
  /** An integer has at most 64 bits, signed or not, and is a bigint if a number does not hold it exactly. */
  readonly value: string | boolean | null | number | bigint;
}

const WORDS: ReadonlyMap<string, Resolved> = new Map(
  (
    [
      ['bool', true, ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']],
      ['bool', false, ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']],
      ['null', null, ['', '~', 'null', 'Null', 'NULL']],
      ['float', NaN, ['.nan', '.NaN', '.NAN']],
      ['float', Infinity, ['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF']],
      ['float', -Infinity, ['-.inf', '-.Inf', '-.INF']],
      ['merge', '<<', ['<<']],
    ] as const
  ).flatMap(([type, value, words]) => words.map((word) => [word, { type, value }] as const)),
);

/** Types that a tag can demand of a scalar; one with any other tag is a string. */
const DEMANDED: ReadonlySet<string> = new Set(['bool', 'int', 'float', 'null', 'timestamp']);
/** No demanded type has a longer tag, and comparing longer ones costs time: a directive adds its prefix to each tag. */
const DEMANDED_TAG_CHARS_MAX = TAG_PREFIX.length + 'timestamp'.length;
const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/;
const INTEGER = /^([-+]?)(0[bB][01]+|0[xX][\da-fA-F]+|0[oO]?[0-7]+|0|[1-9]\d*)$/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
/** A number after a point may have underscores between its digits. */
const POINT_FLOAT = /^\.\d+(?:_\d+)*(?:[eE][-+]?\d+(?:_\d+)*)?$/;
const CLOCK = String.raw`(?:[01]?\d|2[0-3]):[0-5]?\d:[0-5]?\d(?:[.,]\d+)?`;
const TIMESTAMP = new RegExp(
  String.raw`^(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]${CLOCK}(?:Z|[-+]\d\d:\d\d)| ${CLOCK})?$`,
);
/** A number with so many decimal digits is exact. */
const SAFE_DIGITS = 15;
/** A longer integer has more than 64 bits. */
const INTEGER_CHARS_MAX = 68;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;

/**
 * Returns the value of a scalar as the Go library resolves it: `yes` and `n` are booleans, `0644` is octal, a time is a
 * string, `!!binary` decodes base64, and an unknown tag makes a string. Throws YamlError where the text is none of the
 * type that its tag demands.
 */
export function resolveScalar({ text, tag, isPlain }: ScalarNode): Resolved {
  if (tag === '') return isPlain ? resolveText(text) : string(text);
  if (tag.length > DEMANDED_TAG_CHARS_MAX) return string(text);
  const wanted = tag.startsWith(TAG_PREFIX) ? tag.slice(TAG_PREFIX.length) : '';
  if (wanted === 'binary') return string(decodeBinary(text));
  if (!DEMANDED.has(wanted)) return string(text);
  const resolved = resolveText(text);
  const { type, value } = resolved;
  if (type === wanted) return resolved;
  if (wanted === 'float' && type === 'int' && Number(value) <= INT64_MAX)
    return { type: 'float', value: Number(value) };
  if (wanted === 'timestamp' && isTimestamp(text)) return string(text);
  throw new YamlError(`cannot decode !!${type} \`${text}\` as a !!${wanted}`);
}

function string(value: string): Resolved {
  return { type: 'str', value };
}

function resolveText(text: string): Resolved {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  const first = text.charCodeAt(0);
  if (first === POINT) return resolveFloat(text, POINT_FLOAT) ?? string(text);
  const isDigit = first >= DIGIT_0 && first <= DIGIT_9;
  if (!isDigit && first !== PLUS && first !== MINUS) return string(text);
  const plain = text.includes('_') ? text.replaceAll('_', '') : text;
  return resolveInteger(plain) ?? resolveFloat(plain, FLOAT) ?? string(text);
}

const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

function resolveInteger(text: string): Resolved | undefined {
  const match = text.length <= INTEGER_CHARS_MAX ? INTEGER.exec(text) : null;
  if (match === null) return undefined;
  const [, sign, digits = ''] = match;
  if (digits.length <= SAFE_DIGITS && (digits === '0' || !digits.startsWith('0')))
    return { type: 'int', value: Number(text) };
  const size = BigInt(/^0\d/.test(digits) ? `0o${digits}` : digits);
  const value = sign === '-' ? -size : size;
  // Only an integer without a sign can exceed the signed range.
  const max = sign === '' ? UINT64_MAX : INT64_MAX;
  return value >= INT64_MIN && value <= max ? { type: 'int', value } : undefined;
}

/** A number beyond 64 bits of floating point is a string. */
function resolveFloat(text: string, pattern: RegExp): Resolved | undefined {
  if (!pattern.test(text)) return undefined;
  const value = Number(text.replaceAll('_', ''));
  return Number.isFinite(value) ? { type: 'float', value } : undefined;
}

function isTimestamp(text: string): boolean {
  const match = TIMESTAMP.exec(text);
  return match !== null && isDate(Number(match[1]), Number(match[2]), Number(match[3]));
}

/** Bytes that are no UTF-8 become U+FFFD, as everywhere in JSON. */
function decodeBinary(text: string): string {
  const digits = text.replace(/[\r\n]/g, '');
  if (!BASE64.test(digits)) throw new YamlError('!!binary value contains invalid base64 data');
  return decodeUtf8(Buffer.from(digits, 'base64'));
}
