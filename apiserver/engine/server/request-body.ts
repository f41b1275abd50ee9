import { badRequest, StatusError } from '../../../shared/errors/status-error';
import type { Exchange } from '../request/exchange';
import { ClientGoneError } from '../request/initial-values';
import { Gathered } from './gathered';
import type { HeldBytes } from './held-bytes';
import { BODY_BYTES_MAX, BODY_PIECES_MAX, DISCARD_BYTES_MAX, HELD_BYTES_MIN } from './limits';
import type { WireRequest, WireResponse } from './wire';

/** The request whose body is read. */
export interface BodyReader {
  readonly exchange: Pick<Exchange, 'signal' | 'user' | 'whenOver'>;
  /** Counts the bytes read until the exchange ends. */
  readonly held: HeldBytes;
}

/** Creates the 429 for a body that exceeds the memory limits. */
function noRoom({ exchange, held }: BodyReader, bytes: number): StatusError {
  return held.refusal(
    exchange.user,
    bytes,
    'too many bytes of request bodies are in memory, please try again later',
  );
}

/** Creates the 413 for a body over the limit. */
function bodyTooLarge(): StatusError {
  return new StatusError(
    'RequestEntityTooLarge',
    `Request entity too large: limit is ${String(BODY_BYTES_MAX)}`,
  );
}

/**
 * Reads the whole body. Rejects with 413 as soon as it is known to be over the limit, having kept no more than that;
 * with 429 when the memory limits are reached; with the reason of the signal; with 400 when the client disconnects or
 * sends too many small chunks. Sends `100 Continue` to a client that expects it.
 */
export async function readBody(
  request: WireRequest,
  response: WireResponse,
  reader: BodyReader,
): Promise<Buffer> {
  const { exchange, held } = reader;
  exchange.signal.throwIfAborted();
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > BODY_BYTES_MAX) throw bodyTooLarge();
  if (announced >= HELD_BYTES_MIN && !held.hasRoom(exchange.user, announced)) throw noRoom(reader, announced);
  if (request.expectsContinue) {
    request.expectsContinue = false;
    response.writeContinue();
  }
  return collect(request, reader);
}

async function collect({ content: request }: WireRequest, reader: BodyReader): Promise<Buffer> {
  const { exchange, held } = reader;
  const { signal, user } = exchange;
  const gathered = new Gathered();
  let pieces = 0;
  let counted = 0;
  const count = (): boolean => {
    const more = gathered.bytes - counted;
    if (!held.hasRoom(user, more)) return false;
    held.add(user, more);
    counted += more;
    return true;
  };
  const giveBack = (): void => {
    held.add(user, -counted);
  };
  return new Promise<Buffer>((resolve, reject) => {
    const settle = (error?: unknown): void => {
      request.off('data', onData).off('end', onEnd).off('error', onBreak).off('close', onBreak);
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) {
        if (counted > 0) exchange.whenOver(giveBack);
        resolve(gathered.joined());
      } else {
        giveBack();
        reject(error);
      }
    };
    const onData = (chunk: Buffer): void => {
      gathered.add(chunk);
      pieces += 1;
      if (pieces > BODY_PIECES_MAX) settle(badRequest('the request body comes in too many pieces'));
      else if (gathered.bytes > BODY_BYTES_MAX) settle(bodyTooLarge());
      else if (gathered.bytes >= HELD_BYTES_MIN && !count()) settle(noRoom(reader, gathered.bytes - counted));
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

/** Rejects an upgrade request that has a body. */
export async function readNoBody(request: WireRequest): Promise<Buffer> {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (Number(length) > 0 || encoding !== undefined) {
    return Promise.reject(badRequest('a request to upgrade the connection must not have a body'));
  }
  return Promise.resolve(Buffer.alloc(0));
}

/**
 * Discards the rest of an unread body, so that the client gets to read the answer and can reuse the connection. A
 * body over the limit destroys the connection.
 */
export function discardRest(request: WireRequest): void {
  const { content } = request;
  if (request.complete || content.destroyed) return;
  let bytes = 0;
  let pieces = 0;
  content.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    pieces += 1;
    if (bytes > DISCARD_BYTES_MAX || pieces > BODY_PIECES_MAX) content.destroy();
  });
  content.on('error', () => undefined);
  content.resume();
}
