/** What the server takes on the loop that serves everybody (`apiserver/engine/request/loop-bounds.ts`). */
const BODY_BYTES_MAX = 128 * 1_024;
const VALUES_MAX = 1_500;
const SHRINKS = 0.9;

/** The largest text of JSON that is carried out on the loop that serves everybody; `textOf` makes one of so many bytes at most. */
export function largestWithin(textOf: (bytes: number) => string): string {
  let bytes = BODY_BYTES_MAX;
  for (;;) {
    const text = textOf(bytes);
    if (valuesIn(text) <= VALUES_MAX) return text;
    bytes = Math.floor(text.length * SHRINKS);
  }
}

/** What is no JSON has none. */
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
