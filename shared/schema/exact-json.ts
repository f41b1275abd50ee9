import { NumberText } from '../object/exact-text';
import { setKey } from './string-map';

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/**
 * Parses valid JSON and keeps integers exact: those of more than 53 bits become bigints if they fit 64 bits.
 * It is about ten times slower than `JSON.parse`, so callers use it only where such a number occurs.
 */
export function parseExact(text: string): unknown {
  return new ExactReader(text, false).value();
}

/**
 * Parses valid JSON like `parseExact`, with a `NumberText` for each number that JavaScript would write otherwise.
 */
export function parseWithNumberTexts(text: string): unknown {
  return new ExactReader(text, true).value();
}

/** Matches one bracket, string, number or literal after white space and separators. */
const TOKEN = /[\s,:]*([[\]{}]|"(?:[^"\\]|\\.)*"|[^\s,:[\]{}"]+)/gy;
const INTEGER = /^-?\d+$/;

class ExactReader {
  readonly #text: string;
  readonly #keepsTexts: boolean;
  #next = 0;

  constructor(text: string, keepsTexts: boolean) {
    this.#text = text;
    this.#keepsTexts = keepsTexts;
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
    if (!this.#keepsTexts || typeof value !== 'number' || String(value) === token || token === '-0')
      return value;
    return new NumberText(token);
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
  // A longer number cannot fit 64 bits, and building a bigint of a million digits would block for seconds.
  if (Number.isSafeInteger(number) || digits.length > '-9223372036854775808'.length) return number;
  const exact = BigInt(digits);
  return exact >= INT64_MIN && exact <= INT64_MAX ? exact : number;
}
