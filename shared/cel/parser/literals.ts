import { Uint } from '../eval/values';
import type { Value } from '../eval/values';
import type { Token } from './lexer';
import { LiteralError, unescapeBytes, unescapeString } from './unescape';

const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;
const UINT_MAX = 2n ** 64n - 1n;

/**
 * Returns the value of a literal token.
 *
 * @param report receives what is wrong with the literal; a value is returned all the same
 */
export function parseLiteral(token: Token, isNegative: boolean, report: (message: string) => void): Value {
  switch (token.kind as string) {
    case 'int': {
      const value = isNegative ? -BigInt(token.text) : BigInt(token.text);
      if (value < INT_MIN || value > INT_MAX) report('invalid int literal');
      return value;
    }
    case 'uint': {
      const value = BigInt(token.text.slice(0, -1));
      if (value > UINT_MAX) report('invalid uint literal');
      return new Uint(value);
    }
    case 'double': {
      const value = Number(token.text);
      if (!Number.isFinite(value)) report('invalid double literal');
      return isNegative ? -value : value;
    }
    case 'string':
    case 'bytes':
      return parseText(token, report);
    default:
      return token.text === 'null' ? null : token.text === 'true';
  }
}

function parseText(token: Token, report: (message: string) => void): Value {
  try {
    return token.kind === 'bytes' ? unescapeBytes(token.text.slice(1)) : unescapeString(token.text);
  } catch (error) {
    if (!(error instanceof LiteralError)) throw error;
    report(error.message);
    return '';
  }
}
