import { isNativeError } from 'node:util/types';
import { StatusError } from '../../../shared/errors/status-error';

type ErrorClass = abstract new (...parts: never[]) => Error;

/** The result of `read`, or undefined when it throws an error of these classes. Every other error is a finding and propagates. */
export function refusable<Value>(
  read: () => Value,
  ...classes: readonly ErrorClass[]
): { readonly value: Value } | undefined {
  try {
    return { value: read() };
  } catch (error) {
    if (isRefusal(error, classes)) return undefined;
    throw error;
  }
}

/** The same for asynchronous decoders. */
export async function refusableLater<Value>(
  read: () => Promise<Value>,
  ...classes: readonly ErrorClass[]
): Promise<{ readonly value: Value } | undefined> {
  try {
    return { value: await read() };
  } catch (error) {
    if (isRefusal(error, classes)) return undefined;
    throw error;
  }
}

/** A StatusError is a refusal if its code is 4xx. */
function isRefusal(error: unknown, classes: readonly ErrorClass[]): boolean {
  if (error instanceof StatusError && error.status.code >= 500) return false;
  return classes.some((each) => error instanceof each);
}

/** The names of errors that only defects throw. */
const DEFECTS: ReadonlySet<string> = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError']);

/** The same for decoders that throw plain errors: every error except those of defects. */
export function refusableByError<Value>(read: () => Value): { readonly value: Value } | undefined {
  try {
    return { value: read() };
  } catch (error) {
    // `instanceof` fails here, because errors of node:crypto have classes of another realm in tests.
    if (isNativeError(error) && !DEFECTS.has(error.name)) return undefined;
    throw error;
  }
}

/** Throws unless the condition is true. `what` describes the expectation. */
export function holds(isTrue: boolean, what: string, ...shown: readonly unknown[]): void {
  if (isTrue) return;
  throw new Error(`${what}: ${shown.map(text).join(' <> ')}`);
}

const SHOWN_CHARS_MAX = 400;

function text(value: unknown): string {
  const written = Buffer.isBuffer(value)
    ? value.toString('utf8')
    : (JSON.stringify(value, (_key, each: unknown) =>
        typeof each === 'bigint' ? `${String(each)}n` : each,
      ) ?? 'undefined');
  return written.slice(0, SHOWN_CHARS_MAX);
}

/** Freezes a value deeply, so that a decoder that changes its input throws. */
export function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const each of Object.values(value)) frozen(each);
  }
  return value;
}

/** The same value with 64-bit integers as the nearest numbers, because both forms are equal here. */
export function asNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(asNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, asNumbers(each)]));
}
