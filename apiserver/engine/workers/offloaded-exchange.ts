import { queryOf } from '../request/query-of';
import type { IncomingHttpHeaders } from 'node:http';
import { LightSignal } from '../../../shared/concurrency/light-signal';
import type { AuditTrail, JsonBody, ObjectIdentity, WantedObjects } from '../request/audit-trail';
import type { Answer, Exchange, UserInfo } from '../request/exchange';
import type { RequestInfo } from '../request/request-info';
import { parseRequestInfo } from '../request/request-info';
import type { AuditNote, OffloadedRequest } from './messages';

/** A request inside a worker, without limits. */
export class OffloadedExchange implements Exchange {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly uri: string;
  readonly search: string;
  readonly query: URLSearchParams;
  headers: IncomingHttpHeaders;
  rawHeaders: readonly string[];
  readonly remoteAddress: string;
  readonly upgrade = false;
  readonly receivedAt: number;
  readonly signal = new LightSignal();
  info: RequestInfo;
  user: UserInfo;
  readonly warnings: string[] = [];
  answer: Answer | undefined = undefined;
  readonly audit: RecordedTrail | undefined;
  readonly #body: Buffer;
  readonly #endListeners: (() => void)[] = [];

  constructor(request: OffloadedRequest) {
    this.id = request.id;
    this.method = request.method;
    this.path = request.path;
    this.uri = request.uri;
    this.search = request.search;
    this.query = queryOf(request.search);
    this.headers = request.headers;
    this.rawHeaders = request.rawHeaders;
    this.remoteAddress = request.remoteAddress;
    this.receivedAt = request.receivedAt;
    this.user = request.user;
    this.info = parseRequestInfo(request.method, request.path, this.query);
    this.audit = request.audited === undefined ? undefined : new RecordedTrail(request.id, request.audited);
    const { buffer, byteOffset, byteLength } = request.body;
    this.#body = Buffer.from(buffer, byteOffset, byteLength);
  }

  async readBody(): Promise<Buffer> {
    return Promise.resolve(this.#body);
  }

  /** Requests with streamed bodies are never offloaded. */
  bodyStream(): undefined {
    return undefined;
  }

  abort(reason: Error): void {
    this.signal.abort(reason);
  }

  whenOver(listener: () => void): void {
    this.#endListeners.push(listener);
  }

  /** The answer is sent, or the request was aborted. */
  end(): void {
    for (const listener of this.#endListeners.splice(0)) listener();
  }
}

/** Records the calls of the audit trail for the server’s side. Encoding costs only this worker. */
class RecordedTrail implements AuditTrail {
  readonly id: string;
  readonly #notes: AuditNote[] = [];
  readonly wants: WantedObjects;
  readonly #unfinished: Promise<void>[] = [];

  constructor(id: string, wants: WantedObjects) {
    this.id = id;
    this.wants = wants;
  }

  annotate(key: string, value: string, from?: 'Request'): void {
    this.#notes.push({ kind: 'annotation', key, value, from });
  }

  /** Impersonation happens before a request is offloaded. */
  impersonated(): void {}

  requestObject(identity: ObjectIdentity | undefined, json: () => Buffer): void {
    this.#notes.push({ kind: 'request', identity, json: this.wants.request ? json() : undefined });
  }

  responseObject(json: () => JsonBody | Promise<JsonBody>): void {
    if (!this.wants.response) return;
    this.#unfinished.push(
      (async () => {
        this.#notes.push({ kind: 'response', json: await collected(await json()) });
      })(),
    );
  }

  responseStatus({
    status,
    reason,
  }: {
    readonly status: 'Success' | 'Failure';
    readonly reason?: string;
  }): void {
    this.#notes.push({ kind: 'status', status: reason === undefined ? { status } : { status, reason } });
  }

  /** Returns all recorded calls. */
  async notes(): Promise<readonly AuditNote[]> {
    await Promise.all(this.#unfinished);
    return this.#notes;
  }
}

async function collected(body: JsonBody): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return body;
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}
