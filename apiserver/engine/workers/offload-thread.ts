import type { MessagePort } from 'node:worker_threads';
import { untilAborted } from '../../../shared/concurrency/abort';
import type { Log } from '../../../shared/log/log';
import { StatusError, fromStatus, serviceUnavailable } from '../../../shared/errors/status-error';
import type { Answer, Exchange } from '../request/exchange';
import { AnsweredError } from '../request/answered-error';
import { ClientGoneError } from '../request/initial-values';
import { StorageError } from '../storage/backend';
import { portable, withBuffers } from '../storage/decorators/remote/portable';
import type { ElementRequest } from '../handlers/element-encoder';
import type { AuditNote, FromThread, OffloadedRequest, Remarks, ToThread, WorkerCounts } from './messages';
import type { OffloadCounts } from './offload-counts';

/** A worker thread. */
export interface Worker {
  /** The port for requests and answers. */
  readonly requests: MessagePort;
  /** Terminates the worker. */
  readonly end: () => Promise<void>;
}

/** Time for a worker to start, and to stop an aborted request: longer than any synchronous step of a request. */
const BEGIN_MS_MAX = 60_000;
const LET_GO_MS_MAX = 60_000;
const RETRY_AFTER_SECONDS = 5;

/** A request that a worker runs. */
export interface HandedOver {
  readonly answer: Promise<Answer>;
  /** Resolves when the worker is done with the request, which may be long after its client disconnected. */
  readonly over: Promise<void>;
}

interface UnderWay {
  readonly exchange: Exchange;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  readonly over: () => void;
  /** The worker has started the request. */
  hasBegun?: true;
  /** The stream of an answer whose headers have arrived. */
  stream?: PieceStream;
  /** The request was aborted. */
  isLeft?: true;
  letGo?: NodeJS.Timeout;
}

export interface OffloadThreadParts {
  readonly log: Log;
  readonly counts: OffloadCounts;
  /** Receives the counters of the worker. */
  readonly measured: (measured: WorkerCounts) => void;
}

/** The server’s side of a worker for offloaded requests. */
export class OffloadThread {
  readonly #worker: Worker;
  readonly #log: Log;
  readonly #counts: OffloadCounts;
  readonly #measured: (measured: WorkerCounts) => void;
  readonly #underWay = new Map<number, UnderWay>();
  readonly #elements = new Map<
    number,
    { resolve: (bytes: Buffer) => void; reject: (error: Error) => void }
  >();
  readonly #begin: NodeJS.Timeout;
  #requests = 0;
  #isReady = false;
  #isOver = false;

  constructor(worker: Worker, { log, counts, measured }: OffloadThreadParts) {
    this.#measured = measured;
    this.#worker = worker;
    this.#log = log;
    this.#counts = counts;
    worker.requests.on('message', (message: FromThread) => this.#take(message));
    worker.requests.on('close', () => this.#lost('the thread has ended'));
    this.#begin = setTimeout(() => this.#give('it did not begin in time'), BEGIN_MS_MAX).unref();
  }

  /** Whether the worker accepts no more requests. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Runs the request in the worker. The answer rejects with the error of the request; with StorageError
   * `unknown-outcome` if the worker is lost; with ServiceUnavailable (503) if it could not start.
   */
  answer(exchange: Exchange, body: Buffer): HandedOver {
    this.#requests += 1;
    const number = this.#requests;
    let over: () => void = () => undefined;
    const whenOver = new Promise<void>((resolve) => {
      over = resolve;
    });
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#underWay.set(number, { exchange, resolve, reject, over });
      exchange.signal.addEventListener('abort', () => this.#abort(number), { once: true });
      this.#send({ kind: 'request', number, request: requestOf(exchange, body) });
    });
    return { answer, over: whenOver };
  }

  /** Encodes an element of a list in the worker. Rejects if that fails, the worker is lost or the signal aborts. */
  async element(request: ElementRequest, signal: AbortSignal): Promise<Buffer> {
    signal.throwIfAborted();
    this.#requests += 1;
    const number = this.#requests;
    const made = new Promise<Buffer>((resolve, reject) => {
      this.#elements.set(number, { resolve, reject });
      this.#send({ kind: 'element', number, request });
    });
    return untilAborted(made, signal).finally(() => this.#elements.delete(number));
  }

  async end(): Promise<void> {
    this.#lost('the thread was ended');
    await this.#worker.end();
  }

  #take(message: FromThread): void {
    if (message.kind === 'ready') {
      this.#isReady = true;
      clearTimeout(this.#begin);
      return;
    }
    if (message.kind === 'measured') {
      this.#measured(message.measured);
      return;
    }
    const { number } = message;
    if (message.kind === 'element') {
      const waiting = this.#elements.get(number);
      if (message.bytes === undefined) waiting?.reject(new Error('the element could not be written'));
      else waiting?.resolve(withBuffers(message.bytes) as Buffer);
      return;
    }
    const underWay = this.#underWay.get(number);
    if (underWay === undefined) return;
    if (message.kind === 'begun') this.#begun(underWay);
    else if (message.kind === 'answer') this.#answered(underWay, message);
    else if (message.kind === 'refusal') {
      this.#over(number);
      tell(underWay.exchange, message);
      underWay.reject(errorOf(message));
    } else if (message.kind === 'piece') underWay.stream?.take(withBuffers(message.bytes) as Buffer);
    else {
      this.#over(number);
      underWay.stream?.finish(message.why);
    }
  }

  #answered(underWay: UnderWay, message: FromThread & { readonly kind: 'answer' }): void {
    const { number, code, headers, body } = message;
    if (underWay.isLeft === true) {
      // A stream without a reader must be cancelled.
      if (body === undefined) this.#send({ kind: 'abort', number, status: undefined });
      this.#over(number);
      return;
    }
    tell(underWay.exchange, message);
    if (body !== undefined) {
      this.#over(number);
      underWay.resolve({ code, headers, body: withBuffers(body) as Buffer });
      return;
    }
    const stream = new PieceStream({
      next: () => this.#send({ kind: 'next', number }),
      leave: () => this.#abort(number),
    });
    underWay.stream = stream;
    underWay.resolve({ code, headers, body: stream });
  }

  /** Rejects the request at once; a worker that does not stop it in time is terminated. */
  #abort(number: number): void {
    const underWay = this.#underWay.get(number);
    if (underWay === undefined || underWay.isLeft === true) return;
    underWay.isLeft = true;
    const { reason } = underWay.exchange.signal;
    const status = reason instanceof StatusError ? reason.status : undefined;
    this.#send({ kind: 'abort', number, status: reason instanceof ClientGoneError ? undefined : status });
    underWay.reject(reason);
    if (underWay.stream !== undefined) this.#over(number);
    else if (underWay.hasBegun === true) this.#watch(underWay);
  }

  #begun(underWay: UnderWay): void {
    underWay.hasBegun = true;
    if (underWay.isLeft === true) this.#watch(underWay);
  }

  #watch(underWay: UnderWay): void {
    underWay.letGo = setTimeout(() => this.#give('it does not let go of a request'), LET_GO_MS_MAX).unref();
  }

  #over(number: number): void {
    const underWay = this.#underWay.get(number);
    clearTimeout(underWay?.letGo);
    this.#underWay.delete(number);
    underWay?.over();
  }

  #give(why: string): void {
    this.#counts.lost += 1;
    this.#log.error(
      { reason: why, requests: this.#underWay.size },
      'thread for large requests is being ended',
    );
    this.#lost(why);
    this.#worker.end().catch((error: unknown) => {
      this.#log.error({ error }, 'failed to end the thread for large requests');
    });
  }

  #lost(why: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#begin);
    for (const { reject } of this.#elements.values()) reject(new Error(why));
    for (const [number, { stream, reject }] of this.#underWay) {
      this.#over(number);
      stream?.finish(why);
      reject(this.#lossOf(why));
    }
  }

  #lossOf(why: string): Error {
    const message = `the request was handed to another thread, and ${why}`;
    return this.#isReady
      ? new StorageError('unknown-outcome', message)
      : serviceUnavailable(`${message} before it had started`, RETRY_AFTER_SECONDS);
  }

  #send(message: ToThread): void {
    if (this.#isOver) return;
    const transfers: ArrayBuffer[] = [];
    this.#worker.requests.postMessage(portable(message, transfers), transfers);
  }
}

/** Rebuilds the error. An unexpected error of the worker is unexpected here as well, and logged as a defect. */
function errorOf({ refusal, cause, isUnforeseen }: FromThread & { readonly kind: 'refusal' }): Error {
  const error = cause === '' ? undefined : new Error(cause);
  if ('short' in refusal) {
    const { short, headers, body } = refusal;
    return new AnsweredError({ code: short.code, headers, body: withBuffers(body) as Buffer }, short, error);
  }
  const { status } = refusal;
  return isUnforeseen && error !== undefined ? error : fromStatus(status, error);
}

function requestOf(exchange: Exchange, body: Buffer): OffloadedRequest {
  const { id, method, path, uri = path, headers, rawHeaders, remoteAddress, receivedAt, user } = exchange;
  const { search = exchange.query.toString() } = exchange;
  const audited = exchange.audit?.wants;
  return {
    id,
    method,
    path,
    uri,
    search,
    headers,
    rawHeaders,
    remoteAddress,
    receivedAt,
    user,
    body,
    audited,
  };
}

/** Copies warnings and audit notes to the exchange. */
function tell(exchange: Exchange, { warnings, notes }: Remarks): void {
  for (const warning of warnings) if (!exchange.warnings.includes(warning)) exchange.warnings.push(warning);
  for (const note of notes) tellAudit(exchange, note);
}

function tellAudit({ audit }: Exchange, note: AuditNote): void {
  if (note.kind === 'annotation') audit?.annotate(note.key, note.value, note.from);
  else if (note.kind === 'status') audit?.responseStatus(note.status);
  else {
    const json = note.json === undefined ? NOTHING : (withBuffers(note.json) as Buffer);
    if (note.kind === 'request') audit?.requestObject(note.identity, () => json);
    else audit?.responseObject(() => json);
  }
}

const NOTHING = Buffer.alloc(0);

interface Source {
  readonly next: () => void;
  readonly leave: () => void;
}

/** The pieces of a streamed answer; each is requested when the previous one is consumed. */
class PieceStream implements AsyncIterableIterator<Buffer> {
  readonly #source: Source;
  #asked:
    | { readonly resolve: (step: IteratorResult<Buffer>) => void; readonly reject: (error: Error) => void }
    | undefined;
  #end: { readonly why: string | undefined } | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Buffer>> {
    const end = this.#end;
    if (end?.why !== undefined) throw new Error(end.why);
    if (end !== undefined) return { done: true, value: undefined };
    return new Promise((resolve, reject) => {
      this.#asked = { resolve, reject };
      this.#source.next();
    });
  }

  async return(): Promise<IteratorResult<Buffer>> {
    if (this.#end === undefined) this.#source.leave();
    this.finish(undefined);
    return Promise.resolve({ done: true, value: undefined });
  }

  take(value: Buffer): void {
    this.#asked?.resolve({ done: false, value });
    this.#asked = undefined;
  }

  finish(why: string | undefined): void {
    this.#end ??= { why };
    if (why === undefined) this.#asked?.resolve({ done: true, value: undefined });
    else this.#asked?.reject(new Error(why));
    this.#asked = undefined;
  }
}
