import type { IncomingHttpHeaders } from 'node:http';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { connect, constants } from 'node:http2';
import { Transform, pipeline } from 'node:stream';
import type { Transport, WireCall, WireReply } from './transport';

/** How long a connection that takes no further requests may take to go. */
const RETIRED_MS_MAX = 30_000;

/** What waits to be sent counts, and Node would refuse further requests at 10 MB. */
const SESSION_MEGABYTES_MAX = 1_000;

const TRIES_MAX = 3;

/** The server has done nothing for the request, and says so. */
class RefusedError extends Error {}

/** HTTP/2: all requests and streams share one connection, until it breaks, the server says goodbye, or a request gets no answer in time. */
export class Http2Transport implements Transport {
  readonly #server: string;
  readonly #ca: Buffer;
  #session: ClientHttp2Session | undefined = undefined;
  readonly #open = new Set<ClientHttp2Session>();

  constructor(server: string, ca: Buffer) {
    this.#server = server;
    this.#ca = ca;
  }

  /** A request that the server refused unseen, as one that crossed its goodbye, is sent again on another connection, as by any client. */
  async send(call: WireCall): Promise<WireReply> {
    for (let tries = 1; ; tries += 1) {
      const session = this.#connected();
      try {
        return await this.#sendOn(session, call);
      } catch (error) {
        if (!(error instanceof RefusedError) || tries >= TRIES_MAX) throw error;
        this.#retire(session);
      }
    }
  }

  async #sendOn(session: ClientHttp2Session, call: WireCall): Promise<WireReply> {
    const { method, path, headers, body, timeoutMs, signal } = call;
    signal?.throwIfAborted();
    const stream = session.request(
      { ...headers, ':method': method, ':path': path },
      { endStream: body === undefined, ...(signal === undefined ? {} : { signal }) },
    );
    if (timeoutMs !== undefined) {
      stream.setTimeout(timeoutMs, () => {
        // A link that has gone silent would hold up those to come.
        this.#retire(session);
        stream.destroy(new Error(`No answer in time: ${path}`));
      });
    }
    if (body !== undefined) stream.end(body);
    const content = wholeAnswer(stream);
    const head = await new Promise<Record<string, unknown>>((resolve, reject) => {
      stream.once('response', (fields) => {
        resolve(fields);
      });
      content.once('error', reject);
      stream.once('close', () => {
        const why = `Ended by code ${String(stream.rstCode)} before the answer: ${path}`;
        const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
        reject(isRefused ? new RefusedError(why) : new Error(why));
      });
    });
    const { ':status': status, ...fields } = head;
    return {
      status: Number(status),
      headers: fields as IncomingHttpHeaders,
      content,
      release: () => {
        stream.close(constants.NGHTTP2_CANCEL);
        content.destroy();
      },
    };
  }

  close(): void {
    for (const session of this.#open) session.destroy();
  }

  #connected(): ClientHttp2Session {
    const current = this.#session;
    if (current !== undefined && !current.closed && !current.destroyed) return current;
    const session = connect(this.#server, { ca: this.#ca, maxSessionMemory: SESSION_MEGABYTES_MAX });
    this.#session = session;
    this.#open.add(session);
    // Every request that waits for the connection listens to its end.
    session.setMaxListeners(0);
    session.on('error', () => undefined);
    session.on('goaway', () => {
      this.#retire(session);
    });
    session.once('close', () => this.#open.delete(session));
    return session;
  }

  /** What is under way on it goes on. */
  #retire(session: ClientHttp2Session): void {
    if (this.#session === session) this.#session = undefined;
    if (!session.closed) session.close();
    const timer = setTimeout(() => {
      session.destroy();
    }, RETIRED_MS_MAX).unref();
    session.once('close', () => {
      clearTimeout(timer);
    });
  }
}

/** The bytes of an answer. Node ends a stream that was reset, or lost its connection, like one of which all has come; here it breaks. */
function wholeAnswer(stream: ClientHttp2Stream): Transform {
  const content = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      done(null, chunk);
    },
    flush: (done) => {
      const finish = (): void => {
        done(stream.rstCode === constants.NGHTTP2_NO_ERROR ? null : new Error('The answer was reset.'));
      };
      if (stream.closed) finish();
      else stream.once('close', finish);
    },
  });
  pipeline(stream, content, () => undefined);
  // The reader gets the error.
  return content.on('error', () => undefined);
}
