/** Bytes in messages of a message port, which does not preserve `Buffer` and would clone its whole backing memory. */

/** Copies the bytes of a value into their own memory, which is added to `transfers`. Supports plain objects, arrays and bytes. */
export function portable(value: unknown, transfers: ArrayBuffer[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) {
    const copy = new Uint8Array(value);
    transfers.push(copy.buffer);
    return copy;
  }
  if (Array.isArray(value)) return Array.from(value, (each) => portable(each, transfers));
  return mapped(value, (each) => portable(each, transfers));
}

/** Converts the bytes of a received value to Buffers. */
export function withBuffers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) return Array.from(value, withBuffers);
  return mapped(value, withBuffers);
}

function mapped(value: object, change: (each: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each)]));
}
