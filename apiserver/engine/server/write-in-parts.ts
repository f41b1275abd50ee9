import type { WireResponse } from './wire';

/**
 * The most bytes that are given to a connection at once. Node tells when a write is out and nothing before: over TLS, what a socket says of
 * its bytes counts them as soon as they are encrypted. So a client is seen to read by its taking one part after the other. A batch of a list
 * is one part.
 */
export const PART_BYTES = 512 * 1_024;

/** `bytes` in parts of at most {@link PART_BYTES}, in the same memory; one empty part of nothing. */
export function* partsOf(bytes: Buffer): Generator<Buffer> {
  if (bytes.length === 0) yield bytes;
  for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES);
}

/**
 * Writes `bytes` part after part, each once the connection has taken the one before it. `progressed` is called for each part that is out, which is
 * when a timer for clients that take nothing starts anew, and `done` once all are. After an error, and on a connection that is cut,
 * nothing more is called: the end of the connection follows.
 */
export function writeInParts(
  response: Pick<WireResponse, 'write'>,
  bytes: Buffer,
  told: { readonly progressed: () => void; readonly done: () => void },
): void {
  const parts = partsOf(bytes);
  const writeNext = (): void => {
    const next = parts.next();
    if (next.done === true) {
      told.done();
      return;
    }
    response.write(next.value, (error) => {
      if (error !== undefined && error !== null) return;
      told.progressed();
      writeNext();
    });
  };
  writeNext();
}
