const NO_DEFINITIONS = Buffer.from('"columnDefinitions":null');

/**
 * Puts the column definitions into the first frame that a reader gets. Frames are made without them because all readers share them, and a
 * reader wants them once.
 */
export function withHeaders(frames: AsyncIterable<Buffer>, definitions: string): AsyncIterable<Buffer> {
  return {
    [Symbol.asyncIterator]: (): AsyncIterator<Buffer> => {
      const inner = frames[Symbol.asyncIterator]();
      let isFirst = true;
      return {
        next: async () => {
          const step = await inner.next();
          if (step.done === true || !isFirst) return step;
          const bytes = withDefinitions(step.value, definitions);
          isFirst = bytes === undefined;
          return bytes === undefined ? step : { done: false, value: bytes };
        },
        return: async () => (await inner.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

/** In a frame, only the version stands in front of the definitions, so that the first place that looks like them is them. */
function withDefinitions(bytes: Buffer, definitions: string): Buffer | undefined {
  const at = bytes.indexOf(NO_DEFINITIONS);
  if (at < 0) return undefined;
  return Buffer.concat([
    bytes.subarray(0, at),
    Buffer.from(`"columnDefinitions":${definitions}`),
    bytes.subarray(at + NO_DEFINITIONS.length),
  ]);
}
