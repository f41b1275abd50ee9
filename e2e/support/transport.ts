import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { AgentOptions } from 'node:https';
import { Agent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';

/** A request of a transport. */
export interface WireCall {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  readonly headers: Readonly<OutgoingHttpHeaders>;
  readonly body: Buffer | undefined;
  /** The longest time without data; absent for requests that a signal ends. */
  readonly timeoutMs?: number;
  /** Ends a stream, and with HTTP/1.1 its connection. */
  readonly signal?: AbortSignal;
}

export interface WireReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Throws unless the whole body arrived. */
  readonly content: Readable;
  /** A caller that stops reading must call this. */
  readonly release: () => void;
}

/** Sends requests to a server. */
export interface Transport {
  /** Resolves with the response headers. Rejects when the connection breaks before them. */
  send(call: WireCall): Promise<WireReply>;
  close(): void;
}

const SOCKETS_MAX = 64;

/** HTTP/1.1: connections are reused, except after a stream. */
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
      request.on('timeout', () => request.destroy(new Error(`no response in time: ${path}`)));
      request.on('error', reject);
      // A watch that is aborted while it ends leaves a connection without listeners.
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
