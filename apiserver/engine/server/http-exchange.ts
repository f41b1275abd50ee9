import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { LightSignal } from '../../../shared/concurrency/light-signal';
import type { StatusError } from '../../../shared/errors/status-error';
import { plainAddress } from '../../../shared/meta/ip-address';
import type { AuditTrail } from '../request/audit-trail';
import type { Answer, Exchange, FlowMark, PeerCertificates, UserInfo } from '../request/exchange';
import { NO_INFO, NO_USER } from '../request/initial-values';
import { plainPath } from '../request/plain-path';
import { queryOf } from '../request/query-of';
import type { RequestInfo } from '../request/request-info';
import type { HeldBytes } from './held-bytes';
import { peerCertificates } from './peer-certificates';
import { readBody, readNoBody } from './request-body';
import type { WireRequest, WireResponse } from './wire';

const processPrefix = randomBytes(6).toString('hex');
let exchangesMade = 0;

export interface HttpExchangeOptions {
  /** Whether the request came through the listener for upgrades. */
  readonly upgrade: boolean;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly bodies: HeldBytes;
}

/** The exchange of one HTTP request. What few requests need (id, query, certificates) is computed on demand. */
export class HttpExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  headers: IncomingHttpHeaders;
  rawHeaders: readonly string[];
  readonly remoteAddress: string;
  readonly upgrade: boolean;
  readonly receivedAt: number;
  info: RequestInfo = NO_INFO;
  user: UserInfo = NO_USER;
  readonly warnings: string[] = [];
  audit: AuditTrail | undefined = undefined;
  flow: FlowMark | undefined = undefined;
  answer: Answer | undefined = undefined;
  declare error?: StatusError;
  readonly #number: number;
  readonly #request: WireRequest;
  readonly #response: WireResponse;
  readonly #bodies: HeldBytes;
  #body: Promise<Buffer> | undefined = undefined;
  readonly signal = new LightSignal();
  #parsedQuery: URLSearchParams | undefined = undefined;
  /** Undefined once the exchange has ended. */
  #endListeners: readonly (() => void)[] | undefined = NO_LISTENERS;

  constructor(
    request: WireRequest,
    response: WireResponse,
    { upgrade, receivedAt, bodies }: HttpExchangeOptions,
  ) {
    const target = originForm(request.url ?? '/');
    const question = target.indexOf('?');
    exchangesMade += 1;
    this.#number = exchangesMade;
    this.method = request.method ?? 'GET';
    this.path = plainPath(question < 0 ? target : target.slice(0, question));
    this.search = question < 0 ? '' : target.slice(question + 1);
    this.headers = request.headers;
    this.rawHeaders = request.rawHeaders;
    this.remoteAddress = plainAddress(request.socket.remoteAddress ?? '');
    this.upgrade = upgrade;
    this.receivedAt = receivedAt;
    this.#bodies = bodies;
    this.#request = request;
    this.#response = response;
    request.unread?.onRefused((why) => this.abort(why));
  }

  countUnread(): void {
    this.#request.unread?.countFor(this.user, this.#bodies);
  }

  async readBody(): Promise<Buffer> {
    const request = this.#request;
    const response = this.#response;
    this.#body ??= this.upgrade
      ? readNoBody(request)
      : readBody(request, response, { exchange: this, held: this.#bodies });
    return this.#body;
  }

  bodyStream(): Readable | undefined {
    const request = this.#request;
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    if (this.upgrade || (coding === undefined && Number(length) === 0)) return undefined;
    if (request.expectsContinue) {
      request.expectsContinue = false;
      this.#response.writeContinue();
    }
    return request.content;
  }

  get id(): string {
    return `${processPrefix}-${this.#number.toString(36)}`;
  }

  get uri(): string {
    return originForm(this.#request.url ?? '/');
  }

  get peer(): PeerCertificates | undefined {
    return peerCertificates(this.#request.socket);
  }

  get query(): URLSearchParams {
    this.#parsedQuery ??= queryOf(this.search);
    return this.#parsedQuery;
  }

  abort(reason: Error): void {
    this.signal.abort(reason);
  }

  whenOver(listener: () => void): void {
    if (this.#endListeners === undefined) listener();
    else this.#endListeners = this.#endListeners.concat(listener);
  }

  /** Called by the listener when the answer is sent or the client has disconnected. */
  end(): void {
    const listeners = this.#endListeners;
    this.#endListeners = undefined;
    for (const listener of listeners ?? NO_LISTENERS) listener();
  }

  /**
   * Releases what was only needed to decide the answer. A watch stays open for an hour and would hold its credentials
   * and other headers in memory. Called once the headers of the answer are sent.
   */
  forgetRequest(): void {
    const request = this.#request;
    this.headers = NO_HEADERS;
    this.rawHeaders = NO_NAMES;
    this.#parsedQuery = undefined;
    request.headers = NO_HEADERS;
    request.rawHeaders = [];
  }
}

const NO_LISTENERS: readonly (() => void)[] = [];
const NO_HEADERS: IncomingHttpHeaders = Object.freeze({});
const NO_NAMES: readonly string[] = [];

/** Converts the absolute form of a request target, which proxies may send, to the origin form. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const match = /^https?:\/\/[^/?#]*/i.exec(target);
  if (match === null) return target;
  const rest = target.slice(match[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}
