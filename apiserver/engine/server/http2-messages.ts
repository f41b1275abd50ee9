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

/** Connection-specific headers of HTTP/1.1, which HTTP/2 forbids (RFC 9113, 8.2.2). */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

export interface Http2Head {
  readonly headers: Http2Headers;
  /** Names and values alternate. */
  readonly raw: readonly string[];
  /** END_STREAM: the request has no body. */
  readonly ended: boolean;
  /** No field was dropped by nghttp2. */
  readonly isWhole: boolean;
}

/** One HTTP/2 stream as a request, with the interface of an HTTP/1.1 request. */
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
    // A body of unknown length, in terms of HTTP/1.1: proxies and load shedding check this header before the body is
    // read.
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

/**
 * Returns the body. Node ends a stream that was reset, or lost its connection, like a complete one; this one ends
 * with an error.
 */
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
  // The reader gets the error; without a reader it must not be unhandled.
  pipeline(stream, body, () => undefined);
  return body.on('error', () => undefined);
}

/** The response of one stream. It can be reset without its connection. */
export class Http2Response implements WireResponse {
  readonly sharesConnection = true;
  isOpenEnded = false;
  readonly #stream: ServerHttp2Stream;
  readonly #closeConnection: () => void;
  #keepsAlive = true;
  #isCut = false;

  /** `closeConnection` sends GOAWAY. */
  constructor(stream: ServerHttp2Stream, closeConnection: () => void) {
    this.#stream = stream;
    this.#closeConnection = closeConnection;
    // `close` follows and has all information.
    stream.on('error', () => undefined);
  }

  /** Also true for a stream that its client has reset. */
  get destroyed(): boolean {
    return this.#stream.destroyed || this.#stream.aborted;
  }

  get headersSent(): boolean {
    return this.#stream.headersSent;
  }

  get writableEnded(): boolean {
    return this.#stream.writableEnded;
  }

  /**
   * Also true for a stream that closes with the last byte of its answer, before Node emits `finish`: those whose
   * request had a body.
   */
  get writableFinished(): boolean {
    const { writableFinished, writableEnded, closed, rstCode, aborted } = this.#stream;
    // Node ends a stream that its client has reset.
    if (aborted) return false;
    return writableFinished || (writableEnded && closed && rstCode === constants.NGHTTP2_NO_ERROR);
  }

  /**
   * Whether the client ended the stream before the answer was complete. A cancelled watch counts as answered; a
   * stream that the server had to reset because of what the client sent does not.
   */
  get isGivenUp(): boolean {
    if (this.#isCut || this.writableFinished) return false;
    return !this.isOpenEnded || this.#stream.rstCode !== constants.NGHTTP2_CANCEL;
  }

  get shouldKeepAlive(): boolean {
    return this.#keepsAlive;
  }

  /** False sends GOAWAY: the client opens another connection, and requests in flight are answered. */
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

  /**
   * Ends the answer. The request ends too, even if the client is still sending: a body without end would keep it in
   * flight.
   */
  end(chunk?: Buffer): void {
    const stream = this.#stream;
    stream.once('finish', () => {
      if (!stream.endAfterHeaders && !stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
    });
    if (chunk === undefined) stream.end();
    else stream.end(chunk);
  }

  /** HTTP/2 sends headers at once. */
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

/** Computes the size of the headers as lines of HTTP/1.1: `name: value` and CRLF. */
function bytesAsLines(raw: readonly string[]): number {
  let bytes = 0;
  for (const word of raw) bytes += word.length + 2;
  return bytes;
}

/** Returns the raw headers without pseudo-headers. `:authority` becomes `host`. */
function rawWithoutPseudo(raw: readonly string[], authority: string | undefined): string[] {
  const fields: string[] = authority === undefined ? [] : ['host', authority];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = raw.slice(at, at + 2);
    const isRepeated = name === 'host' && value === authority;
    if (!name.startsWith(':') && !isRepeated) fields.push(name, value);
  }
  return fields;
}

/** Converts a flat list of headers to fields. Throws for an invalid value. Values of one name are kept apart. */
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
