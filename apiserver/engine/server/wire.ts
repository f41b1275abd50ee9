import type { IncomingHttpHeaders, OutgoingHttpHeader } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { UnreadBody } from './unread-bodies';

/** A request as the listener hands it on, over either version of HTTP. */
export interface WireRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  headers: IncomingHttpHeaders;
  /** Names and values in turns, as they came. */
  rawHeaders: string[];
  /** The connection, which over HTTP/2 is that of other requests, too. */
  readonly socket: Socket;
  /** True when the client waits for `100 Continue` before it sends the body. */
  expectsContinue: boolean;
  /** What its head takes as HTTP/1.1 writes it, where it was not refused for that yet. */
  readonly headBytes?: number;
  /** Fields of its head were left out, because they could not be fields. Absent: no. */
  readonly lacksFields?: boolean;
  /** What has come of its body and waits beside the bodies of others. Absent: it waits in the connection, or there is none. */
  readonly unread?: UnreadBody | undefined;
  /** Everything of it has arrived. */
  readonly complete: boolean;
  /** Its body. */
  readonly content: Readable;
}

/** What is used of a response to such a request. */
export interface WireResponse {
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  /** Its connection may have the responses to other requests at the same time. Absent: no. */
  readonly sharesConnection?: boolean;
  /** True once an answer has begun that goes on until its client gives it up: that is its end, and no fault. */
  isOpenEnded?: boolean;
  /** False: the connection takes no further requests. */
  shouldKeepAlive: boolean;
  on(event: 'close' | 'drain' | 'finish', listener: () => void): WireResponse;
  once(event: 'close' | 'drain' | 'finish', listener: () => void): WireResponse;
  off(event: 'close' | 'drain' | 'finish', listener: () => void): WireResponse;
  /** Names and values in turns. Throws for what cannot be written, and nothing is then. */
  writeHead(code: number, headers: OutgoingHttpHeader[]): unknown;
  write(chunk: Buffer, callback?: (error: Error | null | undefined) => void): boolean;
  end(chunk?: Buffer): unknown;
  flushHeaders(): void;
  writeContinue(): void;
  /** Ends it in the middle, so that the client cannot take the part for the whole. */
  destroy(): unknown;
}
