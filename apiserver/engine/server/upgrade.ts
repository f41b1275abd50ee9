import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ListenerRequest } from './listener-request';

/** How long a connection may take to go after its answer was written. */
const CLOSE_MS_MAX = 1_000;

/**
 * Gives a request that asks to upgrade its connection a response to be answered with like any other, so that it takes the same way
 * through authentication and authorization. The connection ends with the answer, as HTTP has let go of it. Undefined when the answer to an
 * earlier request is still under way on it.
 */
export function responseOnSocket(request: ListenerRequest, socket: Socket): ServerResponse | undefined {
  const response = new ServerResponse<ListenerRequest>(request);
  response.shouldKeepAlive = false;
  try {
    response.assignSocket(socket);
  } catch (error) {
    if (isSocketAssigned(error)) return undefined;
    throw error;
  }
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

function isSocketAssigned(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_HTTP_SOCKET_ASSIGNED'
  );
}
