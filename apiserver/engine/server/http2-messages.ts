import type { IncomingHttpHeaders, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import { validateHeaderValue } from 'node:http';
import type { IncomingHttpHeaders as Http2Headers, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline, Transform } from 'node:stream';
import { ClientGoneError } from '../request/initial-values';
import type { UnreadBody } from './unread-bodies';
import type { WireRequest, WireResponse } from './wire';

/** What belongs to a connection of HTTP/1.1, and must not be sent over HTTP/2. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

export interface Http2Head {
  readonly headers: Http2Headers;
  /** Names and values in turns. */
  readonly raw: readonly string[];
  /** It was all of the request. */
  readonly ended: boolean;
  /** Every field of it is here. */
  readonly isWhole: boolean;
}

/** One request of a connection that has many, in the form of one that has its connection to itself. */
export class Http2Request implements WireRequest {
  readonly method: string;
  readonly url: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  readonly socket: Socket;
  expectsContinue: boolean;
  readonly headBytes: number;
  readonly lacksFields: boolean;
  readonly unread: UnreadBody | undefined;
  readonly #stream: ServerHttp2Stream;
  #content: Readable | undefined = undefined;

  constructor(
    stream: ServerHttp2Stream,
    { head, body }: { readonly head: Http2Head; readonly body: UnreadBody | undefined },
    socket: Socket,
  ) {
    const { ':method': method = 'GET', ':path': path = '/', ':authority': authority } = head.headers;
    this.method = method;
    this.url = path;
    this.headers = withoutPseudo(head.headers, authority);
    // A body of unknown length, as HTTP/1.1 says it: who passes it on, or weighs it before it is read, has to know of it.
    if (!head.ended && this.headers['content-length'] === undefined)
      this.headers['transfer-encoding'] = 'chunked';
    this.rawHeaders = rawWithoutPseudo(head.raw, authority);
    this.socket = socket;
    this.expectsContinue = this.headers.expect?.toLowerCase() === '100-continue';
    this.headBytes = bytesAsLines(head.raw);
    this.lacksFields = !head.isWhole;
    this.unread = body;
    this.#stream = stream;
  }

  get content(): Readable {
    this.#content ??= this.unread === undefined ? this.#stream : wholeBody(this.#stream, this.unread);
    return this.#content;
  }

  get complete(): boolean {
    return this.unread === undefined || this.content.readableEnded;
  }
}

/** What arrives. Node ends a stream that was reset, or lost its connection, like one of which all has come; here it ends with an error. */
function wholeBody(stream: ServerHttp2Stream, unread: UnreadBody): Readable {
  let isWhole = false;
  stream.once('end', () => {
    isWhole = !stream.closed;
  });
  const body = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      unread.taken(chunk.length);
      done(null, chunk);
    },
    flush: (done) => {
      done(isWhole ? null : new ClientGoneError());
    },
  });
  // Whoever reads it is told; nobody may.
  pipeline(stream, body, () => undefined);
  return body.on('error', () => undefined);
}

/** The response of one stream; it is cut without its connection. */
export class Http2Response implements WireResponse {
  readonly sharesConnection = true;
  isOpenEnded = false;
  readonly #stream: ServerHttp2Stream;
  readonly #closeConnection: () => void;
  #keepsAlive = true;
  #isCut = false;

  /** `closeConnection` has it take no further requests. */
  constructor(stream: ServerHttp2Stream, closeConnection: () => void) {
    this.#stream = stream;
    this.#closeConnection = closeConnection;
    // The end of the stream follows, and tells all that there is to tell.
    stream.on('error', () => undefined);
  }

  /** Or about to be, as its client has given it up. */
  get destroyed(): boolean {
    return this.#stream.destroyed || this.#stream.aborted;
  }

  get headersSent(): boolean {
    return this.#stream.headersSent;
  }

  get writableEnded(): boolean {
    return this.#stream.writableEnded;
  }

  /** A stream whose request had a body closes with the last byte of its answer, before Node says that this is written. */
  get writableFinished(): boolean {
    const { writableFinished, writableEnded, closed, rstCode, aborted } = this.#stream;
    // Node ends by itself what its client has given up.
    if (aborted) return false;
    return writableFinished || (writableEnded && closed && rstCode === constants.NGHTTP2_NO_ERROR);
  }

  /**
   * Whether it is over before its answer, and not because it was cut here. A watch that its client cancels has been answered; one that the
   * server has to reset for what its client sends has not.
   */
  get isGivenUp(): boolean {
    if (this.#isCut || this.writableFinished) return false;
    return !this.isOpenEnded || this.#stream.rstCode !== constants.NGHTTP2_CANCEL;
  }

  get shouldKeepAlive(): boolean {
    return this.#keepsAlive;
  }

  /** The client is told (GOAWAY) to send further requests elsewhere; those that are under way are answered. */
  set shouldKeepAlive(keeps: boolean) {
    this.#keepsAlive = keeps;
    if (!keeps) this.#closeConnection();
  }

  on(event: 'close' | 'drain' | 'finish', listener: () => void): this {
    this.#stream.on(event, listener);
    return this;
  }

  once(event: 'close' | 'drain' | 'finish', listener: () => void): this {
    this.#stream.once(event, listener);
    return this;
  }

  off(event: 'close' | 'drain' | 'finish', listener: () => void): this {
    this.#stream.off(event, listener);
    return this;
  }

  writeHead(code: number, headers: OutgoingHttpHeader[]): void {
    const fields = fieldsOf(headers);
    this.#stream.respond({ ...fields, [constants.HTTP2_HEADER_STATUS]: code });
  }

  write(chunk: Buffer, callback?: (error: Error | null | undefined) => void): boolean {
    return this.#stream.write(chunk, callback);
  }

  /** With the answer the request is over, even where its client goes on sending: else a body without an end would keep it under way. */
  end(chunk?: Buffer): void {
    const stream = this.#stream;
    stream.once('finish', () => {
      if (!stream.endAfterHeaders && !stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
    });
    if (chunk === undefined) stream.end();
    else stream.end(chunk);
  }

  /** A head goes out by itself. */
  flushHeaders(): void {
    return undefined;
  }

  writeContinue(): void {
    this.#stream.additionalHeaders({ [constants.HTTP2_HEADER_STATUS]: constants.HTTP_STATUS_CONTINUE });
  }

  destroy(): void {
    const stream = this.#stream;
    if (stream.destroyed) return;
    this.#isCut = true;
    stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    stream.destroy();
  }
}

function withoutPseudo(headers: Http2Headers, authority: string | undefined): IncomingHttpHeaders {
  const fields: IncomingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) if (!name.startsWith(':')) fields[name] = value;
  if (authority !== undefined) fields.host = authority;
  return fields;
}

/** `raw` is names and values in turns. Between them stands a colon and a space, and behind them the end of the line. */
function bytesAsLines(raw: readonly string[]): number {
  let bytes = 0;
  for (const word of raw) bytes += word.length + 2;
  return bytes;
}

/** Names and values in turns. The authority is the host, as which a request may have one. */
function rawWithoutPseudo(raw: readonly string[], authority: string | undefined): string[] {
  const fields: string[] = authority === undefined ? [] : ['host', authority];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = raw.slice(at, at + 2);
    const isRepeated = name === 'host' && value === authority;
    if (!name.startsWith(':') && !isRepeated) fields.push(name, value);
  }
  return fields;
}

/** Throws for a value that cannot stand in a header. Several of one name are kept apart. */
function fieldsOf(headers: readonly OutgoingHttpHeader[]): OutgoingHttpHeaders {
  const fields: OutgoingHttpHeaders = {};
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = String(headers[at]).toLowerCase();
    const value = String(headers[at + 1]);
    if (OF_CONNECTION.has(name)) continue;
    validateHeaderValue(name, value);
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else fields[name] = [...(Array.isArray(before) ? before : [String(before)]), value];
  }
  return fields;
}
