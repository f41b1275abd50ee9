/** The limits for processing on the event loop (`apiserver/engine/request/loop-bounds.ts`). */
const BODY_BYTES_MAX = 128 * 1_024;
const VALUES_MAX = 1_500;
const SHRINKS = 0.9;

/** The largest JSON text that is processed on the event loop; `textOf` creates one of at most the given size in bytes. */
export function largestWithin(textOf: (bytes: number) => string): string {
  let bytes = BODY_BYTES_MAX;
  for (;;) {
    const text = textOf(bytes);
    if (valuesIn(text) <= VALUES_MAX) return text;
    bytes = Math.floor(text.length * SHRINKS);
  }
}

/** A text that is not JSON has no values. */
function valuesIn(text: string): number {
  try {
    let values = 0;
    JSON.parse(text, (_key, value: unknown) => {
      values += 1;
      return value;
    });
    return values;
  } catch {
    return 0;
  }
}
