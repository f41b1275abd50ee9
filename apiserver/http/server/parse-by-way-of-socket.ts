import type { TLSSocket } from 'node:tls';

/**
 * Node's parser takes the bytes of a connection from where they are decrypted, and pauses for a client that sends its next request before
 * the last answer has left. What was read from the network by then is decrypted all the same, and the paused parser takes it for an error
 * ("Parse Error: Paused"). Once somebody has listened for them, the bytes come by way of the socket, and wait there.
 */
export function parseByWayOfSocket(socket: TLSSocket): void {
  if (socket.alpnProtocol === 'h2') return;
  const listener = (): void => undefined;
  socket.on('data', listener).off('data', listener);
}
