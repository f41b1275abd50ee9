import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { connect, constants } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';

/** Unusual client behaviour over both versions of HTTP: partial bodies, trailers, aborted requests. */
export interface WireOptions {
  readonly server: string;
  readonly ca: Buffer;
  readonly http: '1.1' | '2';
  /** The client certificate and its key. */
  readonly cert?: string;
  readonly key?: string;
}

export interface Call {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | number>>;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** One request with a streamed response. */
export interface OpenCall {
  /** The response headers, with the body received so far. Rejects without a response. */
  readonly head: Promise<Reply>;
  /** The whole response. Rejects when it is truncated. */
  readonly reply: Promise<Reply>;
  /** The server sent 100 Continue. */
  readonly continued: Promise<void>;
  /** The body received so far. */
  readonly text: () => string;
  write(part: string): void;
  end(part?: string, trailers?: Readonly<Record<string, string>>): void;
  /** Aborts: resets the stream or closes the connection. */
  readonly cut: () => void;
}

/** Node's own client limits headers to 64 KiB. */
const HEAD_BYTES_MAX = 1_024 * 1_024;

/** Connections to a server: one for all requests over HTTP/2, one per concurrent request over HTTP/1.1. */
export class Wire {
  readonly #options: WireOptions;
  readonly #agent: Agent;
  readonly #session: ClientHttp2Session | undefined;

  constructor(options: WireOptions) {
    const { server, ca, http, cert, key } = options;
    const secrets = { ca, ...(cert === undefined ? {} : { cert, key }) };
    this.#options = options;
    this.#agent = new Agent({ ...secrets, keepAlive: true });
    this.#session =
      http === '2' ? connect(server, { ...secrets, maxSendHeaderBlockLength: HEAD_BYTES_MAX }) : undefined;
    this.#session?.on('error', () => undefined).setMaxListeners(0);
  }

  /** The HTTP/2 session. */
  get session(): ClientHttp2Session {
    if (this.#session === undefined) throw new Error('HTTP/1.1 has no session');
    return this.#session;
  }

  /** Starts a request with a body. */
  open(call: Call): OpenCall {
    return this.#session === undefined ? this.#openHttp1(call) : openHttp2(this.#session, call);
  }

  async send(call: Call, body?: string): Promise<Reply> {
    const open = this.open(call);
    open.end(body);
    return open.reply;
  }

  close(): void {
    this.#agent.destroy();
    this.#session?.destroy();
  }

  #openHttp1({ method = 'GET', path, headers = {} }: Call): OpenCall {
    const target = new URL(this.#options.server);
    const request = httpsRequest({
      agent: this.#agent,
      host: target.hostname,
      port: target.port,
      method,
      path,
      headers,
    });
    const seen = new Seen();
    request.on('error', seen.failed);
    request.on('response', (response: IncomingMessage) => {
      seen.began(response.statusCode ?? 0, response.headers);
      response.on('data', seen.add).on('error', seen.failed).on('end', seen.ended);
    });
    request.on('continue', seen.continued);
    if ('expect' in headers) request.flushHeaders();
    return seen.of({
      write: (part) => void request.write(part),
      end: (part, trailers) => {
        if (trailers !== undefined) request.addTrailers(trailers);
        request.end(part);
      },
      cut: () => void request.destroy(),
    });
  }
}

function openHttp2(session: ClientHttp2Session, { method = 'GET', path, headers = {} }: Call): OpenCall {
  const hasNoBody = method === 'GET' || method === 'HEAD';
  const stream: ClientHttp2Stream = session.request(
    { ...headers, ':method': method, ':path': path },
    { endStream: hasNoBody, waitForTrailers: true },
  );
  const seen = new Seen();
  let sent: Readonly<Record<string, string>> = {};
  stream.on('wantTrailers', () => stream.sendTrailers(sent));
  stream.on('continue', seen.continued);
  stream.on('response', (fields) => {
    const { ':status': status, ...rest } = fields;
    seen.began(Number(status), rest);
  });
  stream.on('data', seen.add).on('error', seen.failed);
  stream.on('close', () => {
    if (stream.rstCode === constants.NGHTTP2_NO_ERROR) seen.ended();
    else seen.failed(new Error(`reset with ${String(stream.rstCode)}`));
  });
  return seen.of({
    write: (part) => void stream.write(part),
    end: (part, trailers = {}) => {
      sent = trailers;
      if (!hasNoBody) stream.end(part);
    },
    cut: () => stream.close(constants.NGHTTP2_CANCEL),
  });
}

/** The received part of a response. */
class Seen {
  readonly #head = settled<Reply>();
  readonly #reply = settled<Reply>();
  readonly #continued = settled<void>();
  #text = '';
  #status = 0;
  #headers: IncomingHttpHeaders = {};

  readonly began = (status: number, headers: IncomingHttpHeaders): void => {
    this.#status = status;
    this.#headers = headers;
    this.#head.resolve(this.#soFar());
  };
  readonly add = (part: Buffer): void => {
    this.#text += part.toString('latin1');
  };
  readonly ended = (): void => {
    if (this.#status === 0) this.failed(new Error('no response'));
    else this.#reply.resolve(this.#soFar());
  };
  readonly failed = (error: Error): void => {
    this.#head.reject(error);
    this.#reply.reject(error);
  };
  readonly continued = (): void => {
    this.#continued.resolve();
  };

  of(how: Pick<OpenCall, 'write' | 'end' | 'cut'>): OpenCall {
    return {
      head: this.#head.promise,
      reply: this.#reply.promise,
      continued: this.#continued.promise,
      text: () => this.#text,
      ...how,
    };
  }

  #soFar(): Reply {
    return { status: this.#status, headers: this.#headers, text: this.#text };
  }
}

interface Settled<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

/** Marks a rejection as handled. */
function settled<T>(): Settled<T> {
  let settlers: Omit<Settled<T>, 'promise'> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settlers = { resolve, reject };
  });
  promise.catch(() => undefined);
  return {
    promise,
    resolve: (value) => settlers?.resolve(value),
    reject: (error) => settlers?.reject(error),
  };
}
