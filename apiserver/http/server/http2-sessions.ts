import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { constants, createServer } from 'node:http2';
import type { Server as HttpsServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { monotonicClock } from '../../../shared/concurrency/monotonic-clock';
import { TokenBucket } from '../../../shared/concurrency/token-bucket';
import type { Log } from '../../../shared/log/log';
import { Http2Request, Http2Response } from './http2-messages';
import * as limits from './limits';

/** What HTTP/2 is offered with, beside HTTP/1.1 on the same port. */
export interface Http2Settings {
  /** Requests under way on one connection, watches included. */
  readonly streamsMax: number;
  /** The part of the requests, from 0 to 1, after which a connection takes no further ones. */
  readonly goawayChance: number;
}

export interface Http2SessionsOptions extends Http2Settings {
  readonly log: Log;
  readonly arrivalMsMax: number;
  /** A number from 0 to 1, by chance. */
  readonly random: () => number;
  readonly handle: (request: Http2Request, response: Http2Response) => void;
  /** Whether the server is about to go. */
  readonly isDraining: () => boolean;
}

export const ALPN_PROTOCOLS = ['h2', 'http/1.1'];

/** The connections whose clients have chosen HTTP/2. Each stream becomes a request and a response like those of HTTP/1.1. */
export class Http2Sessions {
  readonly #options: Http2SessionsOptions;
  readonly #server: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #sockets = new WeakMap<ServerHttp2Session, TLSSocket>();
  #socketOfNext: TLSSocket | undefined = undefined;

  constructor(options: Http2SessionsOptions) {
    this.#options = options;
    this.#server = createServer({
      maxSessionMemory: limits.SESSION_MEGABYTES_MAX,
      maxHeaderListPairs: limits.HEADER_PAIRS_MAX,
      settings: {
        enablePush: false,
        maxConcurrentStreams: options.streamsMax,
        maxHeaderListSize: limits.HEADER_BYTES_MAX,
        initialWindowSize: limits.STREAM_WINDOW_BYTES,
      },
    });
    this.#server.on('session', (session) => {
      this.#opened(session);
    });
    this.#server.on(
      'stream',
      (
        stream: ServerHttp2Stream,
        headers: IncomingHttpHeaders,
        flags: number,
        raw: readonly string[] = [],
      ) => {
        this.#begin(stream, { headers, raw, ended: (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0 });
      },
    );
    this.#server.on('sessionError', () => undefined);
  }

  /** Takes the connections over which HTTP/2 is spoken; the others stay with who has them. Before others listen for them. */
  attach(https: HttpsServer): void {
    const others = https.listeners('secureConnection');
    https.removeAllListeners('secureConnection');
    https.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol === 'h2') {
        this.#socketOfNext = socket;
        this.#server.emit('connection', socket);
        this.#socketOfNext = undefined;
      } else for (const listener of others) Reflect.apply(listener, https, [socket]);
    });
  }

  /** Every connection takes no further requests, and ends with the last answer that is under way on it. */
  close(): void {
    for (const session of this.#sessions) if (!session.closed) session.close();
  }

  #opened(session: ServerHttp2Session): void {
    const socket = this.#socketOfNext;
    if (socket === undefined) {
      session.destroy();
      return;
    }
    this.#sockets.set(session, socket);
    this.#sessions.add(session);
    session.setLocalWindowSize(limits.SESSION_WINDOW_BYTES);
    session.on('error', () => undefined);
    const idle = new IdleEnd(session);
    session.on('stream', (stream) => {
      idle.opened(stream);
    });
    session.once('close', () => {
      idle.stop();
      this.#sessions.delete(session);
    });
    this.#limitControlFrames(session, socket);
    if (this.#options.isDraining()) session.close();
  }

  /** Answering them costs the sender less than the server. */
  #limitControlFrames(session: ServerHttp2Session, socket: TLSSocket): void {
    const bucket = new TokenBucket(limits.CONTROL_FRAMES, monotonicClock);
    const spend = (): void => {
      if (session.destroyed || bucket.take() === 0) return;
      const { remoteAddress: source } = socket;
      this.#options.log.info({ source }, 'too many control frames on an HTTP/2 connection; ending it');
      session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    };
    session.on('ping', spend);
    session.on('remoteSettings', spend);
  }

  #begin(
    stream: ServerHttp2Stream,
    head: {
      readonly headers: IncomingHttpHeaders;
      readonly raw: readonly string[];
      readonly ended: boolean;
    },
  ): void {
    const { session } = stream;
    const socket = session === undefined ? undefined : this.#sockets.get(session as ServerHttp2Session);
    const response = new Http2Response(stream);
    if (socket === undefined || head.headers[':method'] === 'CONNECT') {
      response.destroy();
      return;
    }
    if (!head.ended) this.#limitArrival(stream);
    const { goawayChance, random, handle } = this.#options;
    if (goawayChance > 0 && random() < goawayChance) response.shouldKeepAlive = false;
    handle(new Http2Request(stream, head, socket), response);
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

/** Ends a connection on which nothing was under way for a while, whatever else comes over it. */
class IdleEnd {
  readonly #session: ServerHttp2Session;
  #open = 0;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(session: ServerHttp2Session) {
    this.#session = session;
    this.#start(limits.HEADERS_MS_MAX);
  }

  opened(stream: ServerHttp2Stream): void {
    this.#open += 1;
    this.stop();
    stream.once('close', () => {
      this.#open -= 1;
      if (this.#open === 0 && !this.#session.destroyed) this.#start(limits.KEEP_ALIVE_MS);
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #start(ms: number): void {
    this.#timer = setTimeout(() => {
      if (this.#session.closed) this.#session.destroy();
      else this.#session.close();
    }, ms).unref();
  }
}
