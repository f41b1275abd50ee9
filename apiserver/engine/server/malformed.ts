import type { Duplex } from 'node:stream';

/** What a client reads whose bytes are no HTTP request that this server takes, by the code of node's error. */
const STATUS_OF_CODE: ReadonlyMap<string, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
]);

/**
 * Answers bytes that are no HTTP with a line of plain text, since there is no request a Status could belong to, and closes the
 * connection. `hasBegun` tells that an answer is under way on it: then it is cut without a word.
 */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex, hasBegun: boolean): void {
  if (hasBegun || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = STATUS_OF_CODE.get(error.code ?? '') ?? '400 Bad Request';
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${String(status.length)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${status}`);
}
