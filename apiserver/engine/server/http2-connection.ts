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
  /** Requests under way on one connection, watches included. */
  readonly streamsMax: number;
  readonly log: Log;
  readonly counts: Pick<ConnectionCounts, 'http2Floods'>;
}

/** What a connection comes with. */
export interface Http2ConnectionParts {
  readonly session: ServerHttp2Session;
  readonly socket: TLSSocket;
  readonly wire: Http2Wire;
  /** Where the session reads and writes. */
  readonly input: WatchedSocket;
}

/** One connection over HTTP/2, and what its client may do with it besides sending requests. */
export class Http2Connection {
  readonly socket: TLSSocket;
  readonly wire: Http2Wire;
  readonly #input: WatchedSocket;
  readonly #session: ServerHttp2Session;
  readonly #options: Http2ConnectionOptions;
  readonly #resets: TokenBucket;
  /** The requests under way, and their heads. */
  #requests = 0;
  #headBytes = 0;
  #end: NodeJS.Timeout | undefined = undefined;
  /** It takes no further requests than have come. */
  #isClosing = false;
  /** It is about to be cut. */
  #isMisused = false;

  constructor({ session, socket, wire, input }: Http2ConnectionParts, options: Http2ConnectionOptions) {
    this.#session = session;
    this.socket = socket;
    this.wire = wire;
    this.#input = input;
    this.#options = options;
    const { perSecond, burst } = limits.STREAM_RESETS;
    // Whoever gives up all that may be under way, and begins it anew, does nothing wrong.
    this.#resets = new TokenBucket(
      { perSecond, burst: Math.max(burst, 2 * options.streamsMax) },
      monotonicClock,
    );
    session.setLocalWindowSize(limits.SESSION_WINDOW_BYTES);
    session.on('error', () => undefined);
    session.once('close', () => {
      clearTimeout(this.#end);
    });
    // Answering them costs the sender less than the server.
    const control = new TokenBucket(limits.CONTROL_FRAMES, monotonicClock);
    const spend = (): void => {
      this.#spend(control, 'control frames');
    };
    session.on('ping', spend);
    session.on('remoteSettings', spend);
    wire.onIdleFrame = spend;
    wire.onFault = (what) => {
      this.#misused(what);
    };
    this.#endUnusedAfter(limits.HEADERS_MS_MAX);
  }

  /** Counts a request until it is over. False: there is no room for its head, and it is refused without having been begun. */
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

  /** To be told of a request that ended before its answer, by its client's will or fault: beginning costs more than giving up. */
  givenUp(): void {
    this.#spend(this.#resets, 'requests that were given up');
  }

  /**
   * No further requests than have come, of which the heads may wait for their turn; it ends with the last answer to them. nghttp2 passes over what it
   * reads after the client was told.
   */
  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#input.whenRead(() => {
      if (!this.#session.closed) this.#session.close();
    });
    if (this.#requests === 0) this.#unused();
  }

  /** No further requests than are under way. The client is told no later than by the answer that comes next, so that it asks on another connection. */
  closeAtOnce(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    if (!this.#session.closed) this.#session.close();
    if (this.#requests === 0) this.#unused();
  }

  /** It ends after a while, whatever else comes over it. */
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

  /** Node would wait for the client to take the last bytes and to close its side. */
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

  /** It is cut, and told to be calm. */
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
