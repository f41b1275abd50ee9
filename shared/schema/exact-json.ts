import { NumberText } from '../object/exact-text';
import { setKey } from './string-map';

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/**
 * Parses JSON that is known to be valid and not nested too deep, with integers kept exact: those of more than 53 bits become bigints
 * if they fit 64 bits. About ten times slower than `JSON.parse`, which is why it is used only where such a number was seen.
 */
export function parseExact(text: string, kept: KeptNumbers = 'none'): unknown {
  return new ExactReader(text, kept).value();
}

/** Which numbers are kept as they are written: none, whole ones that are written as fractions, or all that would be written otherwise. */
export type KeptNumbers = 'none' | 'fractions' | 'texts';

/** A whole number that is written as a fraction, or with an exponent: Go reads it into no integer. */
export class WholeFraction extends NumberText {}

/** The first number of the JSON that is too large for 64 bits of floating point, as it is written. */
export function firstInfinite(json: string): string | undefined {
  for (const [token] of json.matchAll(STRING_OR_NUMBER)) {
    if (token.startsWith('"')) continue;
    if (!Number.isFinite(Number(token))) return token;
  }
  return undefined;
}

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** `{`, `[`, a string, a number or a word, after white space and separators. */
const TOKEN = /[\s,:]*([[\]{}]|"(?:[^"\\]|\\.)*"|[^\s,:[\]{}"]+)/gy;
const INTEGER = /^-?\d+$/;

class ExactReader {
  readonly #text: string;
  readonly #kept: KeptNumbers;
  #next = 0;

  constructor(text: string, kept: KeptNumbers) {
    this.#text = text;
    this.#kept = kept;
  }

  value(): unknown {
    return this.#valueOf(this.#token());
  }

  #token(): string {
    TOKEN.lastIndex = this.#next;
    const token = TOKEN.exec(this.#text)?.[1] ?? '';
    this.#next = TOKEN.lastIndex;
    return token;
  }

  #valueOf(token: string): unknown {
    if (token === '{') return this.#object();
    if (token === '[') return this.#list();
    const isInteger = INTEGER.test(token);
    const value: unknown = isInteger ? integerOf(token) : JSON.parse(token);
    if (this.#kept === 'texts' && typeof value === 'number' && String(value) !== token) {
      return new NumberText(token);
    }
    return this.#kept === 'fractions' && !isInteger && Number.isInteger(value)
      ? new WholeFraction(token)
      : value;
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (let token = this.#token(); token !== '}'; token = this.#token()) {
      setKey(object, JSON.parse(token) as string, this.value());
    }
    return object;
  }

  #list(): unknown[] {
    const list: unknown[] = [];
    for (let token = this.#token(); token !== ']'; token = this.#token()) list.push(this.#valueOf(token));
    return list;
  }
}

function integerOf(digits: string): number | bigint {
  const number = Number(digits);
  // A longer number cannot fit 64 bits, and a bigint of a million digits would take seconds to make.
  if (Number.isSafeInteger(number) || digits.length > '-9223372036854775808'.length) return number;
  const exact = BigInt(digits);
  return exact >= INT64_MIN && exact <= INT64_MAX ? exact : number;
}
