import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionCounts } from './connection-counts';
import type { ListenerRequest } from './listener-request';
import { parseNoMore } from './listener-request';
import { PIPELINED_BYTES_MAX, PIPELINED_MAX } from './limits';

export interface PipelineOptions {
  readonly counts: Pick<ConnectionCounts, 'pipelined' | 'pipelineFloods'>;
  /** Ends the connection after the current answer, or soon if there is none. */
  readonly endAfterAnswer: (socket: Socket) => void;
}

/** The pipelined requests that wait on one connection. */
interface Waiting {
  requests: number;
  /** Size of their headers. */
  bytes: number;
  /** The connection is closing: waiting requests are not started. */
  isEnding: boolean;
}

/**
 * Serializes pipelined requests: Node emits every request that it finds in a read, and the next one is started only
 * after the answer to the previous one is sent. A client cannot have more work or answers in memory than it has
 * connections.
 */
export class Pipelines {
  readonly #waiting = new WeakMap<Socket, Waiting>();
  readonly #options: PipelineOptions;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /**
   * Queues a request whose connection is busy, and starts it in turn; never if the connection ends first. Over the
   * limit, parsing stops and the connection ends with the current answer: clients know that requests after
   * `Connection: close` were not processed.
   */
  hold(request: ListenerRequest, response: ServerResponse, begin: () => void): void {
    const { socket } = request;
    const waiting = this.#waitingOn(socket);
    const bytes = headBytes(request);
    const isFull = waiting.requests >= PIPELINED_MAX || waiting.bytes + bytes > PIPELINED_BYTES_MAX;
    if (isFull || waiting.isEnding) {
      this.#end(socket, waiting);
      return;
    }
    this.#options.counts.pipelined += 1;
    waiting.requests += 1;
    waiting.bytes += bytes;
    // Node assigns the socket to the responses in the order of their requests.
    response.once('socket', () => {
      waiting.requests -= 1;
      waiting.bytes -= bytes;
      if (socket.destroyed) return;
      if (waiting.isEnding) socket.destroySoon();
      else begin();
    });
  }

  #waitingOn(socket: Socket): Waiting {
    const known = this.#waiting.get(socket);
    if (known !== undefined) return known;
    const waiting: Waiting = { requests: 0, bytes: 0, isEnding: false };
    this.#waiting.set(socket, waiting);
    return waiting;
  }

  #end(socket: Socket, waiting: Waiting): void {
    if (waiting.isEnding) return;
    waiting.isEnding = true;
    this.#options.counts.pipelineFloods += 1;
    parseNoMore(socket);
    this.#options.endAfterAnswer(socket);
  }
}

function headBytes({ url, rawHeaders }: ListenerRequest): number {
  let bytes = url?.length ?? 0;
  for (const word of rawHeaders) bytes += word.length;
  return bytes;
}
