import { queryOf } from '../request/query-of';
import type { IncomingHttpHeaders } from 'node:http';
import { LightSignal } from '../../../shared/concurrency/light-signal';
import type { AuditTrail, JsonBody, ObjectIdentity, WantedObjects } from '../request/audit-trail';
import type { Answer, Exchange, UserInfo } from '../request/exchange';
import type { RequestInfo } from '../request/request-info';
import { parseRequestInfo } from '../request/request-info';
import type { AuditNote, OffloadedRequest } from './messages';

/** A request in the thread that it was handed to: nothing bounds it there. */
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

  /** Nothing that streams its body is too large for the loop. */
  bodyStream(): undefined {
    return undefined;
  }

  abort(reason: Error): void {
    this.signal.abort(reason);
  }

  whenOver(listener: () => void): void {
    this.#endListeners.push(listener);
  }

  /** The answer is out, or nobody waits for it. */
  end(): void {
    for (const listener of this.#endListeners.splice(0)) listener();
  }
}

/** Keeps what is said, to be told where audit is. What it makes as JSON costs this thread alone. */
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

  /** It has happened before a request comes here. */
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

  /** Everything that was said. */
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
