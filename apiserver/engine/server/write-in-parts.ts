import type { WireResponse } from './wire';

/**
 * The most bytes written to a connection at once. Node reports only completed writes: over TLS, the counters of a
 * socket include bytes as soon as they are encrypted. Progress of a client is observed part by part. A batch of a
 * list is one part.
 */
export const PART_BYTES = 512 * 1_024;

/** The same for frames of watches. They are shared, but each connection encrypts a copy of the part it sends. */
export const FRAME_PART_BYTES = 64 * 1_024;

/** Splits `bytes` into slices of at most `partBytes`; empty bytes give one empty part. */
export function* partsOf(bytes: Buffer, partBytes: number): Generator<Buffer> {
  if (bytes.length === 0) yield bytes;
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes);
}

/**
 * Writes `bytes` part by part, each after the previous one is flushed. `progressed` is called for each flushed part,
 * and restarts the timer for stalled clients; `done` after the last. After an error or on a destroyed connection
 * neither is called: `close` follows.
 */
export function writeInParts(
  response: Pick<WireResponse, 'write'>,
  bytes: Buffer,
  listener: { readonly progressed: () => void; readonly done: () => void },
  partBytes: number,
): void {
  const parts = partsOf(bytes, partBytes);
  const writeNext = (): void => {
    const next = parts.next();
    if (next.done === true) {
      listener.done();
      return;
    }
    response.write(next.value, (error) => {
      if (error !== undefined && error !== null) return;
      listener.progressed();
      writeNext();
    });
  };
  writeNext();
}
