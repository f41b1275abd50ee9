/** How a stream ended: `error` when it broke, `hasBegun` when the client had something of it by then. */
export interface StreamEnd {
  readonly error?: unknown;
  readonly hasBegun: boolean;
}

/**
 * The same stream. `ended` is called once, however it ends: read to its end, broken, left by its reader, or given up before anybody
 * read it (`signal` aborts). The reader learns of the end when the promise that `ended` returns has settled.
 */
export function endingWith(
  body: AsyncIterable<Buffer>,
  signal: AbortSignal,
  ended: (end: StreamEnd) => void | Promise<void>,
): AsyncIterable<Buffer> {
  let hasBegun = false;
  let ending: Promise<void> | undefined;
  const end = async (error?: unknown): Promise<void> => {
    signal.removeEventListener('abort', onAbort);
    ending ??= (async () => ended(error === undefined ? { hasBegun } : { error, hasBegun }))();
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
