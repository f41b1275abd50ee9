/** Bytes on their way through a message port, which knows no `Buffer`, and would send all of the memory that one is a part of. */

/** The same with bytes that have memory of their own; that memory is added to `transfers`. Only plain objects, arrays and bytes. */
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

/** What arrived, with Buffers again. */
export function withBuffers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) return Array.from(value, withBuffers);
  return mapped(value, withBuffers);
}

function mapped(value: object, change: (each: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each)]));
}
