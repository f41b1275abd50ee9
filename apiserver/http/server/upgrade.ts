import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ExpressListener, ListenerRequest } from './express-listener';

/** How long a connection may take to go after its answer was written. */
const CLOSE_MS_MAX = 1_000;

/**
 * Gives a request that asks to upgrade its connection a response to be answered with like any other, so that it takes the same way
 * through authentication and authorization. The connection ends with the answer, as HTTP has let go of it.
 */
export function responseOnSocket(
  listener: ExpressListener,
  request: ListenerRequest,
  socket: Duplex,
): ServerResponse | undefined {
  socket.on('error', () => socket.destroy());
  if (!(socket instanceof Socket)) {
    socket.destroy();
    return undefined;
  }
  const response = new listener.Response(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => {
    response.detachSocket(socket);
    socket.resume();
    socket.end();
    setTimeout(() => socket.destroy(), CLOSE_MS_MAX).unref();
    response.destroy();
    // HTTP does this for the responses it made itself; whoever counts what is in flight waits for it.
    process.nextTick(() => response.emit('close'));
  });
  return response;
}
