import { INT_OVERFLOW, UINT_OVERFLOW, toInt, toTimestamp, toUint } from './arithmetic';
import { formatDouble } from './decimals';
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from './time';
import { Duration, EvalError, NO_OVERLOAD, Timestamp, Uint, typeOfValue } from './values';
import type { Result, Value } from './values';

const TWO_63 = 2 ** 63;
const TWO_64 = 2 ** 64;
const NANOSECONDS = 1_000_000_000n;
const TRUE_WORDS = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE_WORDS = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

function failed(value: Value, to: string): EvalError {
  return new EvalError(`type conversion error from '${typeOfValue(value).name}' to '${to}'`);
}

export function convertToInt(value: Value): Result {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') {
    const isOutside = Number.isNaN(value) || value <= -TWO_63 || value >= TWO_63;
    return isOutside ? INT_OVERFLOW : BigInt(Math.trunc(value));
  }
  if (typeof value === 'string') {
    const parsed = /^[+-]?\d+$/u.test(value) ? toInt(BigInt(value.replace(/^\+/u, ''))) : undefined;
    return parsed === undefined || parsed instanceof EvalError ? failed(value, 'int') : parsed;
  }
  if (value instanceof Uint) return toInt(value.value);
  if (value instanceof Duration) return value.nanoseconds;
  return value instanceof Timestamp ? floorDivide(value.nanoseconds, NANOSECONDS) : NO_OVERLOAD;
}

function floorDivide(a: bigint, b: bigint): bigint {
  return a < 0n && a % b !== 0n ? a / b - 1n : a / b;
}

export function convertToUint(value: Value): Result {
  if (value instanceof Uint) return value;
  if (typeof value === 'bigint') return toUint(value);
  if (typeof value === 'number') {
    const isOutside = Number.isNaN(value) || value < 0 || value >= TWO_64;
    return isOutside ? UINT_OVERFLOW : new Uint(BigInt(Math.trunc(value)));
  }
  if (typeof value !== 'string') return NO_OVERLOAD;
  const parsed = /^\d+$/u.test(value) ? toUint(BigInt(value)) : undefined;
  return parsed === undefined || parsed instanceof EvalError ? failed(value, 'uint') : parsed;
}

export function convertToDouble(value: Value): Result {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  if (typeof value !== 'string') return NO_OVERLOAD;
  if (/^[+-]?(?:inf|infinity)$/iu.test(value)) return value.startsWith('-') ? -Infinity : Infinity;
  if (/^nan$/iu.test(value)) return Number.NaN;
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/u.test(value)) return failed(value, 'double');
  const parsed = Number(value);
  return Number.isFinite(parsed) ? parsed : failed(value, 'double');
}

export function convertToBool(value: Value): Result {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return NO_OVERLOAD;
  if (TRUE_WORDS.has(value)) return true;
  return FALSE_WORDS.has(value) ? false : failed(value, 'bool');
}

export function convertToBytes(value: Value): Result {
  if (value instanceof Uint8Array) return value;
  return typeof value === 'string' ? Buffer.from(value) : NO_OVERLOAD;
}

export function convertToString(value: Value): Result {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return formatDouble(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  return value instanceof Uint8Array ? decodeUtf8(value) : NO_OVERLOAD;
}

function decodeUtf8(bytes: Uint8Array): Result {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new EvalError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

export function convertToTimestamp(value: Value): Result {
  if (value instanceof Timestamp) return value;
  if (typeof value === 'bigint') return toTimestamp(value * NANOSECONDS);
  if (typeof value !== 'string') return NO_OVERLOAD;
  const parsed = parseTimestamp(value);
  return parsed === undefined
    ? failed(value, 'google.protobuf.Timestamp')
    : toTimestamp(parsed.nanoseconds, parsed.offsetMinutes);
}

export function convertToDuration(value: Value): Result {
  if (value instanceof Duration) return value;
  if (typeof value !== 'string') return NO_OVERLOAD;
  const parsed = parseDuration(value);
  return parsed === undefined ? failed(value, 'google.protobuf.Duration') : new Duration(parsed);
}
