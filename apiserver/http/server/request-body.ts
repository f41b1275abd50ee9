import type { ServerResponse } from 'node:http';
import { badRequest, StatusError } from '../../../shared/errors/status-error';
import { ClientGoneError } from '../../exchange/initial-values';
import type { ListenerRequest } from './express-listener';
import { BODY_BYTES_MAX, DISCARD_BYTES_MAX } from './limits';

/** The 413 of a request body over the limit. */
function bodyTooLarge(): StatusError {
  return new StatusError(
    'RequestEntityTooLarge',
    `Request entity too large: limit is ${String(BODY_BYTES_MAX)}`,
  );
}

/**
 * Reads the whole body. Rejects with 413 as soon as it is known to be over the limit, having kept no more than that; with the
 * signal's reason when that aborts; with 400 when the client broke off. A client that waits for `100 Continue` is told to go on.
 */
export async function readBody(
  request: ListenerRequest,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<Buffer> {
  signal.throwIfAborted();
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) throw bodyTooLarge();
  if (request.expectsContinue) {
    request.expectsContinue = false;
    response.writeContinue();
  }
  return collect(request, signal);
}

async function collect(request: ListenerRequest, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise<Buffer>((resolve, reject) => {
    const settle = (error?: unknown): void => {
      request.off('data', onData).off('end', onEnd).off('error', onBreak).off('close', onBreak);
      signal.removeEventListener('abort', onAbort);
      if (error === undefined)
        resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, bytes));
      else reject(error);
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > BODY_BYTES_MAX) settle(bodyTooLarge());
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      settle();
    };
    const onBreak = (): void => {
      settle(
        request.readableAborted ? new ClientGoneError() : badRequest('the request body ended too early'),
      );
    };
    const onAbort = (): void => {
      settle(signal.reason);
    };
    request.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** For requests whose bytes do not belong to HTTP any more: they may have no body. */
export async function readNoBody(request: ListenerRequest): Promise<Buffer> {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (Number(length) > 0 || encoding !== undefined) {
    return Promise.reject(badRequest('a request to upgrade the connection must not have a body'));
  }
  return Promise.resolve(Buffer.alloc(0));
}

/**
 * Throws away what the client still sends of a body that nobody reads, so that it gets to reading the answer and can use the
 * connection again. A body without end is cut off.
 */
export function discardRest(request: ListenerRequest): void {
  if (request.complete || request.destroyed) return;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARD_BYTES_MAX) request.destroy();
  });
  request.on('error', () => undefined);
  request.resume();
}
