const NO_DEFINITIONS = Buffer.from('"columnDefinitions":null');

/** Adds the column definitions to the first frame of a reader. Shared frames have none, and a reader needs them once. */
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

/** Only the metadata precedes the definitions in a frame, so the first match is the definitions. */
function withDefinitions(bytes: Buffer, definitions: string): Buffer | undefined {
  const at = bytes.indexOf(NO_DEFINITIONS);
  if (at < 0) return undefined;
  return Buffer.concat([
    bytes.subarray(0, at),
    Buffer.from(`"columnDefinitions":${definitions}`),
    bytes.subarray(at + NO_DEFINITIONS.length),
  ]);
}
