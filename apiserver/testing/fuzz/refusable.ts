import { isNativeError } from 'node:util/types';
import { StatusError } from '../../../shared/errors/status-error';

type ErrorClass = abstract new (...parts: never[]) => Error;

/** What `read` gives, or undefined when it refuses with an error of one of these classes. Every other error is thrown on: a finding. */
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

/** The same for what is read in turns. */
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

/** A StatusError is one as long as it blames the client. */
function isRefusal(error: unknown, classes: readonly ErrorClass[]): boolean {
  if (error instanceof StatusError && error.status.code >= 500) return false;
  return classes.some((each) => error instanceof each);
}

/** The names of what a defect throws, and no decoder on purpose. */
const DEFECTS: ReadonlySet<string> = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError']);

/** The same for decoders that refuse with plain errors: everything but what defects throw. */
export function refusableByError<Value>(read: () => Value): { readonly value: Value } | undefined {
  try {
    return { value: read() };
  } catch (error) {
    // Not by `instanceof`: the errors of node:crypto are not of the classes that tests see.
    if (isNativeError(error) && !DEFECTS.has(error.name)) return undefined;
    throw error;
  }
}

/** Throws unless it holds. `what` says what was expected. */
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

/** Makes a value that cannot be changed, so that a decoder that changes its input throws. */
export function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const each of Object.values(value)) frozen(each);
  }
  return value;
}

/** The same value with integers of 64 bits as the nearest numbers: which of the two stands for a number is no difference. */
export function asNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(asNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, asNumbers(each)]));
}
