import type { Exchange } from '../exchange/exchange';

/** How a stream ended: `error` when it broke, `hasBegun` when the client had something of it by then. */
export interface StreamEnd {
  readonly error?: unknown;
  readonly hasBegun: boolean;
}

/**
 * The same stream. `ended` is called once, however it ends: read to its end, broken, left by its reader, or given up before anybody
 * read it. The reader learns of the end when the promise that `ended` returns has settled.
 */
export function recordedBody(
  body: AsyncIterable<Buffer>,
  exchange: Exchange,
  ended: (end: StreamEnd) => Promise<void>,
): AsyncIterable<Buffer> {
  const { signal } = exchange;
  let hasBegun = false;
  let ending: Promise<void> | undefined;
  const end = async (error?: unknown): Promise<void> => {
    signal.removeEventListener('abort', onAbort);
    ending ??= ended(error === undefined ? { hasBegun } : { error, hasBegun });
    return ending;
  };
  const onAbort = (): void => {
    void end();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return {
    [Symbol.asyncIterator]: () => {
      const inner = body[Symbol.asyncIterator]();
      return {
        next: async () => {
          try {
            const step = await inner.next();
            if (step.done === true) await end();
            else hasBegun = true;
            return step;
          } catch (error) {
            await end(error);
            throw error;
          }
        },
        return: async () => {
          try {
            return (await inner.return?.()) ?? { done: true as const, value: undefined };
          } finally {
            await end();
          }
        },
      };
    },
  };
}
