import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ListenerRequest } from './listener-request';

/** Time for the connection to close after its answer was written. */
const CLOSE_MS_MAX = 1_000;

/**
 * Creates a response for an upgrade request, so that it runs through the pipeline with authentication and
 * authorization like all others. The connection ends with the answer, because Node has detached it from HTTP. Returns
 * undefined if an earlier answer is still pending on the connection.
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
    // Node emits `close` for its own responses; the drain of requests in flight waits for it.
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
