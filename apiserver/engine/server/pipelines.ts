import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionCounts } from './connection-counts';
import type { ListenerRequest } from './listener-request';
import { parseNoMore } from './listener-request';
import { PIPELINED_BYTES_MAX, PIPELINED_MAX } from './limits';

export interface PipelineOptions {
  readonly counts: Pick<ConnectionCounts, 'pipelined' | 'pipelineFloods'>;
  /** To let the connection end with the answer that is under way on it, and soon whatever becomes of that. */
  readonly endAfterAnswer: (socket: Socket) => void;
}

/** What waits on one connection. */
interface Waiting {
  requests: number;
  /** Of their heads. */
  bytes: number;
  /** The connection ends: nothing that waits is begun. */
  isEnding: boolean;
}

/**
 * One request at a time on each connection: Node hands over every request that it finds in what it has read, and the next one is not begun
 * before the last answer has left. So a client gets no more work under way, and no more answers into memory, than it has connections.
 */
export class Pipelines {
  readonly #waiting = new WeakMap<Socket, Waiting>();
  readonly #options: PipelineOptions;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /**
   * Takes a request whose connection is busy, and begins it when it is its turn; never, if the connection ends before. When too much
   * waits, nothing more is parsed, and the connection ends with the answer that is under way: what comes after an answer that says so was not
   * begun, as every client knows.
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
    // Node gives the connection to the responses in the order of their requests.
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
