import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { monotonicClock } from '../../../shared/concurrency/monotonic-clock';
import { TokenBucket } from '../../../shared/concurrency/token-bucket';
import type { Log } from '../../../shared/log/log';
import type { ConnectionCounts } from './connection-counts';
import * as limits from './limits';
import type { Http2Wire } from './http2-wire';
import type { WatchedSocket } from './watched-socket';

export interface Http2ConnectionOptions {
  /** Concurrent requests on one connection, watches included. */
  readonly streamsMax: number;
  readonly log: Log;
  readonly counts: Pick<ConnectionCounts, 'http2Floods'>;
}

export interface Http2ConnectionParts {
  readonly session: ServerHttp2Session;
  readonly socket: TLSSocket;
  readonly wire: Http2Wire;
  /** The stream that the session reads and writes. */
  readonly input: WatchedSocket;
}

/** One HTTP/2 connection and its limits against abuse: control frame floods, rapid reset, and large header blocks. */
export class Http2Connection {
  readonly socket: TLSSocket;
  readonly wire: Http2Wire;
  readonly #input: WatchedSocket;
  readonly #session: ServerHttp2Session;
  readonly #options: Http2ConnectionOptions;
  readonly #resets: TokenBucket;
  /** The requests in flight and the size of their headers. */
  #requests = 0;
  #headBytes = 0;
  #end: NodeJS.Timeout | undefined = undefined;
  /** A GOAWAY is sent or pending. */
  #isClosing = false;
  /** The connection is being destroyed for abuse. */
  #isMisused = false;

  constructor({ session, socket, wire, input }: Http2ConnectionParts, options: Http2ConnectionOptions) {
    this.#session = session;
    this.socket = socket;
    this.wire = wire;
    this.#input = input;
    this.#options = options;
    const { perSecond, burst } = limits.STREAM_RESETS;
    // A client may legitimately cancel all its concurrent requests and start them again.
    this.#resets = new TokenBucket(
      { perSecond, burst: Math.max(burst, 2 * options.streamsMax) },
      monotonicClock,
    );
    session.setLocalWindowSize(limits.SESSION_WINDOW_BYTES);
    session.on('error', () => undefined);
    session.once('close', () => {
      clearTimeout(this.#end);
    });
    // Control frames cost the sender less than the server.
    const control = new TokenBucket(limits.CONTROL_FRAMES, monotonicClock);
    const spend = (): void => {
      this.#spend(control, 'control frames');
    };
    session.on('ping', spend);
    session.on('remoteSettings', spend);
    wire.onIdleFrame = spend;
    let updates = 0;
    wire.onWindowUpdate = (): void => {
      updates += 1;
      // A client returns at most what it was sent, in steps of its choice.
      if (updates > limits.WINDOW_UPDATES_BURST + socket.bytesWritten / limits.WINDOW_UPDATE_BYTES_MIN)
        this.#misused('WINDOW_UPDATE frames');
    };
    wire.onFault = (what) => {
      this.#misused(what);
    };
    this.#endUnusedAfter(limits.HEADERS_MS_MAX);
  }

  /**
   * Counts a request until it ends. Returns false if its headers exceed the limit; the stream is then refused with
   * REFUSED_STREAM.
   */
  take(stream: ServerHttp2Stream, head: readonly string[]): boolean {
    let bytes = 0;
    for (const word of head) bytes += word.length;
    clearTimeout(this.#end);
    this.#requests += 1;
    this.#headBytes += bytes;
    stream.once('close', () => {
      this.#requests -= 1;
      this.#headBytes -= bytes;
      if (this.#requests === 0) this.#unused();
    });
    if (this.#headBytes <= limits.HTTP2_HEADS_BYTES_MAX) return true;
    stream.close(constants.NGHTTP2_REFUSED_STREAM);
    return false;
  }

  /**
   * Notes a request that the client reset before its answer (rapid reset): starting requests costs more than
   * resetting them.
   */
  givenUp(): void {
    this.#spend(this.#resets, 'requests that were given up');
  }

  /**
   * Starts a graceful shutdown: all requests that have arrived are answered, then the connection ends. GOAWAY is sent
   * after the waiting headers are read, because nghttp2 ignores streams that it reads after the GOAWAY.
   */
  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#input.whenRead(() => {
      if (!this.#session.closed) this.#session.close();
    });
    if (this.#requests === 0) this.#unused();
  }

  /**
   * Sends GOAWAY at once, no later than with the next answer, so that the client opens another connection. Requests
   * in flight are answered.
   */
  closeAtOnce(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    if (!this.#session.closed) this.#session.close();
    if (this.#requests === 0) this.#unused();
  }

  /** Ends the unused connection after a time, whatever control frames arrive. */
  #unused(): void {
    if (this.#isMisused) return;
    if (this.#isClosing || this.#session.destroyed) this.#cutAfter(limits.GOAWAY_GRACE_MS_MAX);
    else this.#endUnusedAfter(limits.KEEP_ALIVE_MS);
  }

  #endUnusedAfter(ms: number): void {
    clearTimeout(this.#end);
    this.#end = setTimeout(() => {
      this.close();
    }, ms).unref();
  }

  /** Destroys the connection after `ms`. Node would wait for the client to read the last bytes and to close. */
  #cutAfter(ms: number): void {
    clearTimeout(this.#end);
    this.#end = setTimeout(() => {
      this.socket.destroy();
    }, ms).unref();
  }

  #spend(bucket: TokenBucket, what: string): void {
    if (this.#isMisused || this.#session.destroyed || bucket.take() === 0) return;
    this.#misused(what);
  }

  /** Closes the connection with ENHANCE_YOUR_CALM. */
  #misused(what: string): void {
    if (this.#isMisused) return;
    this.#isMisused = true;
    const { log, counts } = this.#options;
    counts.http2Floods += 1;
    log.info({ source: this.socket.remoteAddress, what }, 'too much on an HTTP/2 connection; ending it');
    this.#session.destroy(new Error(`too many ${what}`), constants.NGHTTP2_ENHANCE_YOUR_CALM);
    this.#cutAfter(limits.LAST_ANSWER_MS_MAX);
  }
}
