import type { IncomingHttpHeaders, OutgoingHttpHeader } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { UnreadBody } from './unread-bodies';

/** A request of any HTTP version. */
export interface WireRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  headers: IncomingHttpHeaders;
  /** Names and values alternate, as received. */
  rawHeaders: string[];
  /** The connection; HTTP/2 requests share it. */
  readonly socket: Socket;
  /** True when the client waits for `100 Continue` before it sends the body. */
  expectsContinue: boolean;
  /** The size of the headers in HTTP/1.1 syntax; absent where the parser limits it. */
  readonly headBytes?: number;
  /** Whether nghttp2 dropped invalid fields. Absent: no. */
  readonly lacksFields?: boolean;
  /** The unread part of its body on a shared connection. Absent: it waits in the connection, or there is none. */
  readonly unread?: UnreadBody | undefined;
  /** Whether the request has arrived completely. */
  readonly complete: boolean;
  /** Its body. */
  readonly content: Readable;
}

/** The used interface of a response. */
export interface WireResponse {
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  /** Whether the connection is multiplexed. Absent: no. */
  readonly sharesConnection?: boolean;
  /** Set when an answer has started that ends only when the client cancels it, such as a watch. */
  isOpenEnded?: boolean;
  /** False: the connection ends after this answer. */
  shouldKeepAlive: boolean;
  on(event: 'close' | 'drain' | 'finish', listener: () => void): WireResponse;
  once(event: 'close' | 'drain' | 'finish', listener: () => void): WireResponse;
  off(event: 'close' | 'drain' | 'finish', listener: () => void): WireResponse;
  /** Names and values alternate. Throws for an invalid header, and writes nothing then. */
  writeHead(code: number, headers: OutgoingHttpHeader[]): unknown;
  write(chunk: Buffer, callback?: (error: Error | null | undefined) => void): boolean;
  end(chunk?: Buffer): unknown;
  flushHeaders(): void;
  writeContinue(): void;
  /** Destroys the answer, so that the client cannot take the part for the whole. */
  destroy(): unknown;
}
