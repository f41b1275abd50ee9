import { eventually } from '../../shared/testing/eventually';

/**
 * Returns the answer of a call. It repeats a call whose connection breaks, for a limited time, because killed processes leave broken
 * connections. Only for idempotent calls.
 */
export async function answered<T>(what: string, call: () => Promise<T>): Promise<T> {
  const answers: T[] = [];
  let last: Error | undefined;
  try {
    await eventually(what, async () => {
      try {
        answers.push(await call());
      } catch (error) {
        if (!isBrokenConnection(error)) throw error;
        last = error;
      }
      return answers.length > 0;
    });
  } catch (error) {
    throw last === undefined ? error : new Error(`${String(error)}: ${last.message}`, { cause: error });
  }
  const [answer] = answers;
  return answer as T;
}

const BROKEN: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

function isBrokenConnection(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && BROKEN.has(error.code);
}
