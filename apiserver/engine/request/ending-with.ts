/** The end of a stream: `error` if it failed, `hasBegun` if the client has received a part. */
export interface StreamEnd {
  readonly error?: unknown;
  readonly hasBegun: boolean;
}

/**
 * Wraps a stream. `ended` is called once, however the stream ends: completed, failed, closed by its reader, or
 * aborted by `signal` before it was read. The reader sees the end after the promise of `ended` has settled.
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
