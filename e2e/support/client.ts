import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { defined } from '../../shared/defined';
import type { ObjectMeta } from '../../shared/object/object';
import type { HttpVersion } from './http-version';
import { httpVersion } from './http-version';
import type { Transport, WireReply } from './transport';
import { openTransport } from './open-transport';

/** An object, a list or a Status, loosely typed for tests. */
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
  /** The raw body. */
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
  /** The bearer token; empty for anonymous requests. */
  readonly token: string;
  /** By default ORCH_E2E_HTTP, or 1.1. */
  readonly http?: HttpVersion;
}

export interface RequestOptions {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a string or buffer unchanged. */
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

/**
 * A minimal client, independent of the project's own, that returns the response as received. Every status is a value; only a broken connection
 * or a timeout rejects.
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
   * Yields the events of a watch in order until the server ends it or `signal` aborts. Throws on any other status than 200, and when the
   * connection breaks, so that tests can distinguish a clean end.
   */
  async *watch(path: string, signal: AbortSignal): AsyncGenerator<WatchEvent, void> {
    const { status, content, release } = await this.#send({ path }, signal);
    if (status !== 200) {
      release();
      throw new Error(`watch of ${path} returned ${String(status)}`);
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

  /** Opens a watch and discards its events until `signal` aborts. Resolves with its first bytes. */
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
