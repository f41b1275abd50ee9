import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { StatusError } from '../../shared/errors/status-error';
import type { AuditTrail } from '../exchange/audit-trail';
import type { Answer, Exchange, PeerCertificates, UserInfo } from '../exchange/exchange';
import { NO_INFO, NOBODY } from '../exchange/initial-values';
import type { RequestInfo } from '../exchange/request-info';
import type { DoorRequest } from './express-door';
import { peerCertificates } from './peer-certificates';
import { readBody, readNoBody } from './request-body';

const processPrefix = randomBytes(6).toString('hex');
let exchangesMade = 0;

export interface HttpExchangeOptions {
  /** True for a request that came in through the door for upgrades. */
  readonly upgrade: boolean;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** The exchange behind one HTTP/1.1 request. What few requests need (the id, the signal) is made when it is asked for. */
export class HttpExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  headers: IncomingHttpHeaders;
  rawHeaders: readonly string[];
  readonly remoteAddress: string;
  readonly upgrade: boolean;
  readonly receivedAt: number;
  readonly readBody: () => Promise<Buffer>;
  info: RequestInfo = NO_INFO;
  user: UserInfo = NOBODY;
  readonly warnings: string[] = [];
  audit: AuditTrail | undefined = undefined;
  answer: Answer | undefined = undefined;
  declare error?: StatusError;
  private readonly number: number;
  private readonly socket: Socket;
  private parsedQuery: URLSearchParams | undefined = undefined;
  private controller: AbortController | undefined = undefined;
  private derivedSignal: AbortSignal | undefined = undefined;
  private abortReason: Error | undefined = undefined;

  constructor(request: DoorRequest, response: ServerResponse, { upgrade, receivedAt }: HttpExchangeOptions) {
    const target = originForm(request.url ?? '/');
    const question = target.indexOf('?');
    exchangesMade += 1;
    this.number = exchangesMade;
    this.method = request.method ?? 'GET';
    this.path = question < 0 ? target : target.slice(0, question);
    this.search = question < 0 ? '' : target.slice(question + 1);
    this.headers = request.headers;
    this.rawHeaders = request.rawHeaders;
    this.socket = request.socket;
    this.remoteAddress = request.socket.remoteAddress ?? '';
    this.upgrade = upgrade;
    this.receivedAt = receivedAt;
    let body: Promise<Buffer> | undefined;
    this.readBody = async () => {
      body ??= upgrade ? readNoBody(request) : readBody(request, response, this.signal);
      return body;
    };
  }

  get id(): string {
    return `${processPrefix}-${this.number.toString(36)}`;
  }

  get peer(): PeerCertificates | undefined {
    return peerCertificates(this.socket);
  }

  get query(): URLSearchParams {
    this.parsedQuery ??= new URLSearchParams(this.search);
    return this.parsedQuery;
  }

  get signal(): AbortSignal {
    if (this.derivedSignal !== undefined) return this.derivedSignal;
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.abortReason !== undefined) this.controller.abort(this.abortReason);
    }
    return this.controller.signal;
  }

  /** A stage may put a signal in place that aborts earlier. */
  set signal(signal: AbortSignal) {
    this.derivedSignal = signal;
  }

  /** Aborts the signal the door gave out, and with it all that were derived from it. The first reason counts. */
  abort(reason: Error): void {
    if (this.abortReason !== undefined) return;
    this.abortReason = reason;
    this.controller?.abort(reason);
  }
}

/** A proxy may send the whole URL; what counts is what stands behind the authority. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const match = /^https?:\/\/[^/?#]*/i.exec(target);
  if (match === null) return target;
  const rest = target.slice(match[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}
