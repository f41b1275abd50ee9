import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { AgentOptions } from 'node:https';
import { Agent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';

/** A request as it goes over the wire. */
export interface WireCall {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<OutgoingHttpHeaders>;
  readonly body: Buffer | undefined;
  /** How long nothing may come. Not given to what a signal ends. */
  readonly timeoutMs?: number;
  /** Ends a stream, whose connection is its own where the protocol has one request on each. */
  readonly signal?: AbortSignal;
}

export interface WireReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Breaks with an error unless all of it came. */
  readonly content: Readable;
  /** To be called by whoever does not read on. */
  readonly release: () => void;
}

/** How requests get to a server. */
export interface Transport {
  /** Resolves with the head of the answer. Rejects when the connection breaks before it. */
  send(call: WireCall): Promise<WireReply>;
  close(): void;
}

const SOCKETS_MAX = 64;

/** HTTP/1.1: connections are used again, and one that has streamed is closed. */
export class Http1Transport implements Transport {
  readonly #server: string;
  readonly #options: AgentOptions;
  readonly #agent: Agent;

  constructor(server: string, ca: Buffer) {
    this.#server = server;
    this.#options = { ca, maxSockets: SOCKETS_MAX };
    this.#agent = new Agent({ ...this.#options, keepAlive: true });
  }

  async send({ method, path, headers, body, timeoutMs, signal }: WireCall): Promise<WireReply> {
    const agent = signal === undefined ? this.#agent : new Agent({ ...this.#options, keepAlive: false });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = httpsRequest(
        new URL(path, this.#server),
        {
          agent,
          method,
          headers,
          ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
          ...(signal === undefined ? {} : { signal }),
        },
        resolve,
      );
      request.on('timeout', () => request.destroy(new Error(`No answer in time: ${path}`)));
      request.on('error', reject);
      // A watch that is given up in the moment of its end leaves a connection that nobody listens to.
      if (signal !== undefined) request.on('socket', (socket) => socket.on('error', () => undefined));
      request.end(body);
    });
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      content: response,
      release: () => {
        response.destroy();
        if (signal !== undefined) agent.destroy();
      },
    };
  }

  close(): void {
    this.#agent.destroy();
  }
}
