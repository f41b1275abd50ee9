import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { constants, createServer } from 'node:http2';
import type { Server as HttpsServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Http2ConnectionOptions, Http2ConnectionParts } from './http2-connection';
import { Http2Connection } from './http2-connection';
import { HeadTurns } from './head-turns';
import type { Http2Head } from './http2-messages';
import { Http2Request, Http2Response } from './http2-messages';
import { Http2Wire } from './http2-wire';
import * as limits from './limits';
import { StreamTurns } from './stream-turns';
import { WatchedSocket } from './watched-socket';

/** The settings of HTTP/2, which shares the port with HTTP/1.1. */
export interface Http2Settings {
  /** Concurrent requests on one connection, watches included (SETTINGS_MAX_CONCURRENT_STREAMS). */
  readonly streamsMax: number;
  /** The probability, from 0 to 1, that a request makes the server send GOAWAY (`--goaway-chance`). */
  readonly goawayChance: number;
}

export interface Http2SessionsOptions extends Http2Settings, Http2ConnectionOptions {
  readonly arrivalMsMax: number;
  /** A random number from 0 to 1. */
  readonly random: () => number;
  readonly handle: (request: Http2Request, response: Http2Response) => void;
  /** Called whenever a waiting request was cancelled, or a connection has sent its last byte. */
  readonly onRemoved: () => void;
  /** Whether the server is shutting down. */
  readonly isDraining: () => boolean;
}

export const ALPN_PROTOCOLS = ['h2', 'http/1.1'];

/** The HTTP/2 connections. Each stream becomes a request and a response with the interface of HTTP/1.1. */
export class Http2Sessions {
  readonly #options: Http2SessionsOptions;
  readonly #server: Http2Server;
  readonly #connections = new Map<ServerHttp2Session, Http2Connection>();
  /** Connections that may still have bytes to send. */
  readonly #sending = new Set<WatchedSocket>();
  readonly #turns = new StreamTurns<Http2Connection>({
    perTurn: limits.STREAMS_PER_TURN,
    nextTurn: setImmediate,
  });
  readonly #heads = new HeadTurns({ perTurn: limits.HEADS_PER_TURN, nextTurn: setImmediate });
  #next: Omit<Http2ConnectionParts, 'session'> | undefined = undefined;

  constructor(options: Http2SessionsOptions) {
    this.#options = options;
    this.#server = createServer({
      maxSessionMemory: limits.SESSION_MEGABYTES_MAX,
      maxHeaderListPairs: limits.HEADER_PAIRS_MAX,
      settings: {
        enablePush: false,
        maxConcurrentStreams: options.streamsMax,
        maxHeaderListSize: limits.HTTP2_HEADER_BYTES_MAX,
        initialWindowSize: limits.STREAM_WINDOW_BYTES,
      },
    });
    this.#server.on('session', (session) => {
      this.#opened(session);
    });
    this.#server.on('sessionError', () => undefined);
  }

  /** Whether all connections have answered their requests and sent the answers. */
  get isOver(): boolean {
    return this.#sending.size === 0 && this.#turns.size === 0;
  }

  /**
   * Takes over connections with ALPN `h2`; all others stay with the existing listeners. Call it before others add
   * listeners.
   */
  attach(https: HttpsServer): void {
    const others = https.listeners('secureConnection');
    https.removeAllListeners('secureConnection');
    https.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol === 'h2') this.#connected(socket);
      else for (const listener of others) Reflect.apply(listener, https, [socket]);
    });
  }

  /** Starts the graceful shutdown of every connection. */
  close(): void {
    for (const connection of this.#connections.values()) connection.close();
  }

  #connected(socket: TLSSocket): void {
    const wire = new Http2Wire(this.#heads);
    // Node disables renegotiation itself only for connections that it reads.
    socket.disableRenegotiation();
    const input = new WatchedSocket(socket, (bytes, from) => wire.add(bytes, from));
    this.#next = { socket, wire, input };
    this.#server.emit('connection', input);
    this.#next = undefined;
  }

  #opened(session: ServerHttp2Session): void {
    if (this.#next === undefined) {
      session.destroy();
      return;
    }
    const connection = new Http2Connection({ session, ...this.#next }, this.#options);
    this.#connections.set(session, connection);
    session.once('close', () => {
      this.#connections.delete(session);
    });
    this.#awaitLast(this.#next.input);
    session.on(
      'stream',
      (
        stream: ServerHttp2Stream,
        headers: IncomingHttpHeaders,
        flags: number,
        raw: readonly string[] = [],
      ) => {
        const ended = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
        this.#arrived(connection, stream, { headers, raw, ended });
      },
    );
    if (this.#options.isDraining()) connection.close();
  }

  #awaitLast(input: WatchedSocket): void {
    this.#sending.add(input);
    const sent = (): void => {
      if (this.#sending.delete(input)) this.#options.onRemoved();
    };
    input.once('finish', sent);
    input.once('close', sent);
  }

  #arrived(
    connection: Http2Connection,
    stream: ServerHttp2Stream,
    arrived: Omit<Http2Head, 'isWhole'>,
  ): void {
    const { id = 0 } = stream;
    const { heads, unread } = connection.wire;
    const isWhole = heads.isWhole(id, arrived.raw.length / 2);
    const head: Http2Head = { ...arrived, isWhole };
    const response = new Http2Response(stream, () => connection.closeAtOnce());
    if (stream.closed || stream.destroyed) {
      // The client reset the stream in the same read (rapid reset). The stream has no session and may emit no `close`.
      unread.began(id);
      connection.givenUp();
      return;
    }
    if (head.ended) unread.began(id);
    const body = head.ended ? undefined : unread.of(id);
    if (body !== undefined) stream.once('close', () => body.over());
    if (!connection.take(stream, head.raw)) return;
    if (!head.ended) this.#limitArrival(stream);
    const { goawayChance, random, handle } = this.#options;
    if (goawayChance > 0 && random() < goawayChance) response.shouldKeepAlive = false;
    const waiting = {
      begin: () => {
        handle(new Http2Request(stream, { head, body }, connection.socket), response);
      },
    };
    stream.once('close', () => {
      if (this.#turns.remove(connection, waiting)) this.#options.onRemoved();
      if (response.isGivenUp) connection.givenUp();
    });
    this.#turns.add(connection, waiting);
  }

  #limitArrival(stream: ServerHttp2Stream): void {
    const timer = setTimeout(() => {
      stream.close(constants.NGHTTP2_CANCEL);
      stream.destroy();
    }, this.#options.arrivalMsMax).unref();
    const arrived = (): void => clearTimeout(timer);
    stream.once('end', arrived);
    stream.once('close', arrived);
  }
}
