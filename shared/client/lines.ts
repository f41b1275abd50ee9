const NEWLINE = 0x0a;

/**
 * Splits a stream of chunks at `
 * `, on bytes, so that a character split between two chunks stays whole. Empty lines are dropped; an unterminated last line is yielded. A
 * line over `lineBytesMax` ends the stream with a RangeError.
 */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  lineBytesMax: number,
): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      checkLength(pendingBytes + piece.length, lineBytesMax);
      const line = pendingBytes === 0 ? piece : Buffer.concat([...pending, piece]);
      pending = [];
      pendingBytes = 0;
      start = end + 1;
      if (line.length > 0) yield line;
    }
    if (start === chunk.length) continue;
    pending.push(chunk.subarray(start));
    pendingBytes += chunk.length - start;
    checkLength(pendingBytes, lineBytesMax);
  }
  if (pendingBytes > 0) yield Buffer.concat(pending);
}

function checkLength(bytes: number, lineBytesMax: number): void {
  if (bytes > lineBytesMax) throw new RangeError(`a line is longer than ${String(lineBytesMax)} bytes`);
}
