import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { defined } from '../../shared/defined';
import type { ObjectMeta } from '../../shared/object/object';
import type { HttpVersion } from './http-version';
import { httpVersion } from './http-version';
import type { Transport, WireReply } from './transport';
import { openTransport } from './open-transport';

/** A body of the API, as loosely typed as a test needs it: an object, a list or a Status. */
export interface Body {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ObjectMeta & { readonly continue?: string; readonly remainingItemCount?: number };
  readonly items?: readonly Body[];
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: unknown;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly causes?: readonly {
      readonly reason?: string;
      readonly message?: string;
      readonly field?: string;
    }[];
    readonly retryAfterSeconds?: number;
  };
  readonly [field: string]: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as it came. */
  readonly bytes: Buffer;
  /** The parsed body; empty when it is not JSON. */
  readonly body: Body;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: Body;
}

export interface ApiClientOptions {
  readonly server: string;
  readonly caFile: string;
  /** Empty: nobody's. */
  readonly token: string;
  /** Absent: what the environment says for all clients, else 1.1. */
  readonly http?: HttpVersion;
}

export interface RequestOptions {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a string or buffer as it is. */
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

/**
 * A minimal client, independent of the project's own, that says exactly what went over the wire. Every answer is a value, whatever its
 * status; only a broken connection or a timeout rejects.
 */
export class ApiClient {
  readonly server: string;
  readonly #token: string;
  readonly #transport: Transport;

  constructor({ server, caFile, token, http = httpVersion('1.1') }: ApiClientOptions) {
    this.server = server;
    this.#token = token;
    this.#transport = openTransport(http, server, readFileSync(caFile));
  }

  async get(path: string): Promise<Answer> {
    return this.request({ path });
  }

  async create(path: string, body: unknown): Promise<Answer> {
    return this.request({ method: 'POST', path, body });
  }

  async update(path: string, body: unknown): Promise<Answer> {
    return this.request({ method: 'PUT', path, body });
  }

  async mergePatch(path: string, body: unknown): Promise<Answer> {
    return this.request({
      method: 'PATCH',
      path,
      body,
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  }

  async delete(path: string, body?: unknown): Promise<Answer> {
    return this.request({ method: 'DELETE', path, ...defined({ body }) });
  }

  async request(options: RequestOptions): Promise<Answer> {
    const { status, headers, content } = await this.#send(options);
    const chunks: Buffer[] = [];
    for await (const chunk of content as AsyncIterable<Buffer>) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const text = bytes.toString();
    return { status, headers, text, bytes, body: parseBody(text) };
  }

  /**
   * Events of a watch, in order, until the server ends it or `signal` aborts. Throws when the server does not answer 200, or when the
   * connection breaks (a clean end and a broken one are different things to a test).
   */
  async *watch(path: string, signal: AbortSignal): AsyncGenerator<WatchEvent, void> {
    const { status, content, release } = await this.#send({ path }, signal);
    if (status !== 200) {
      release();
      throw new Error(`Watch of ${path} answered ${String(status)}.`);
    }
    let rest = '';
    content.setEncoding('utf8');
    try {
      for await (const chunk of content as AsyncIterable<string>) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line !== '') yield JSON.parse(line) as WatchEvent;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      release();
    }
  }

  /** Opens a watch whose events are thrown away until `signal` aborts. Resolves with its first bytes. */
  async drain(path: string, accept: string, signal: AbortSignal): Promise<void> {
    const { content } = await this.#send({ path, headers: { accept } }, signal);
    content.on('error', () => undefined);
    await once(content, 'data');
    content.resume();
  }

  close(): void {
    this.#transport.close();
  }

  async #send(options: RequestOptions, signal?: AbortSignal): Promise<WireReply> {
    const body = encodeBody(options.body);
    return this.#transport.send({
      method: options.method ?? 'GET',
      path: options.path,
      headers: {
        ...(this.#token === '' ? {} : { authorization: `Bearer ${this.#token}` }),
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
        ...options.headers,
      },
      body,
      ...(signal === undefined ? { timeoutMs: options.timeoutMs ?? REQUEST_TIMEOUT_MS } : { signal }),
    });
  }
}

const REQUEST_TIMEOUT_MS = 60_000;

function encodeBody(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function parseBody(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return {};
  }
}
