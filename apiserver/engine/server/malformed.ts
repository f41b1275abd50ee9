import type { Duplex } from 'node:stream';

/** The status line for a malformed request, by the code of Node’s error. */
const STATUS_OF_CODE: ReadonlyMap<string, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
]);

/**
 * Answers a malformed request with a line of plain text and closes the connection: without a request there can be no
 * Status. `hasBegun` says that an answer has started on the connection; then it is destroyed.
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
