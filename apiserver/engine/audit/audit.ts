import { StatusError } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import { jsonLine } from '../encoding/json-encoder';
import type { Answer, Exchange, Stage as PipelineStage } from '../request/exchange';
import { endingWith } from '../request/ending-with';
import { ClientGoneError, isClientGone } from '../request/initial-values';
import type { AuditCounts } from './counts';
import type { ResponseStatus, Stage } from './event';
import { isLongRunning } from '../request/long-running';
import type { Decide } from './policy';
import { AuditRecord } from './record';
import type { Backend } from './sink';

export interface AuditParts {
  readonly decide: Decide;
  readonly backend: Backend;
  readonly counts: AuditCounts;
  readonly log: Log;
  /** The maximum size of an object in an event. */
  readonly objectBytesMax: number;
  /** Returns the Status that the client receives for an error. */
  readonly statusOf: (error: unknown, exchange: Exchange) => StatusError;
}

/** Auditing as two pipeline stages, which are absent without a policy. */
export interface Audit {
  /** Runs after `request info`; records requests that end before authentication. Sets `exchange.audit`. */
  readonly open: PipelineStage;
  /** Runs after `authentication`; creates the events of every request that reaches it. */
  readonly record: PipelineStage;
  readonly counts: AuditCounts;
  /** Drains pending events; those not written when the signal aborts are lost and counted. */
  close(signal: AbortSignal): Promise<void>;
}

export function createAudit(parts: AuditParts): Audit {
  const recorder = new Recorder(parts);
  return {
    open: recorder.open,
    record: recorder.record,
    counts: parts.counts,
    close: async (signal) => parts.backend.close(signal),
  };
}

/** The status of a request whose client disconnected before the answer, as in kube-apiserver. */
const CLOSED_EARLY: ResponseStatus = { status: 'Success', message: 'Connection closed early', code: 200 };
const INTERNAL_ERROR = 500;
const SUCCESS = 200;
const SWITCHING_PROTOCOLS = 101;

class Recorder {
  readonly #parts: AuditParts;

  constructor(parts: AuditParts) {
    this.#parts = parts;
  }

  readonly open: PipelineStage = async (exchange, next) => {
    const record = new AuditRecord(exchange, this.#parts);
    exchange.audit = record;
    try {
      await next();
    } catch (error) {
      if (record.level === undefined) await this.#refused(record, exchange, error);
      throw error;
    }
  };

  readonly record: PipelineStage = async (exchange, next) => {
    const record = this.#begun(exchange);
    if (record === undefined) {
      await next();
      return;
    }
    const received = this.#store(record, exchange, 'RequestReceived');
    if (!(typeof received === 'boolean' ? received : await received)) {
      exchange.signal.throwIfAborted();
      this.#parts.counts.rejectedRequests += 1;
      throw new StatusError('InternalError', 'Internal error occurred: failed to store audit event', {
        details: { causes: [{ message: 'failed to store audit event' }] },
      });
    }
    try {
      await next();
    } catch (error) {
      await this.#failed(record, exchange, error);
      throw error;
    }
    await this.#answered(record, exchange);
  };

  /** Applies the policy and returns the record; undefined if the policy records nothing. */
  #begun(exchange: Exchange): AuditRecord | undefined {
    const { audit: record } = exchange;
    if (!(record instanceof AuditRecord)) throw new Error('audit record stage without the open stage');
    const decision = this.#parts.decide(exchange);
    this.#parts.counts.countLevel(decision.level);
    record.begin(decision);
    if (decision.level !== 'None') return record;
    exchange.audit = undefined;
    return undefined;
  }

  /** Creates the single event of a request that ended before authentication, as kube-apiserver does. */
  async #refused(record: AuditRecord, exchange: Exchange, error: unknown): Promise<void> {
    if (this.#begun(exchange) === undefined) return;
    const status = this.#statusOf(record, exchange, error);
    await this.#store(record, exchange, 'ResponseStarted', status, await record.responseJson());
  }

  async #failed(record: AuditRecord, exchange: Exchange, error: unknown): Promise<void> {
    const status = this.#statusOf(record, exchange, error);
    if (isDefect(error, status)) {
      const message = `APIServer panic'd: ${String(error)}`;
      await this.#store(record, exchange, 'Panic', { ...status, message });
      return;
    }
    await this.#completed(record, exchange, status);
  }

  async #answered(record: AuditRecord, exchange: Exchange): Promise<void> {
    const { answer } = exchange;
    if (answer?.tunnel !== undefined) {
      await this.#store(record, exchange, 'ResponseStarted', record.statusOf(SWITCHING_PROTOCOLS));
      exchange.whenOver(() => {
        void this.#store(record, exchange, 'ResponseComplete', record.statusOf(SWITCHING_PROTOCOLS));
      });
      return;
    }
    if (answer === undefined || Buffer.isBuffer(answer.body)) {
      await this.#completed(record, exchange, record.statusOf(answer?.code ?? INTERNAL_ERROR));
      return;
    }
    const { body } = answer;
    const code = isSwitched(exchange, answer) ? SWITCHING_PROTOCOLS : answer.code;
    if (isLongRunning(exchange.info)) {
      await this.#store(record, exchange, 'ResponseStarted', record.statusOf(code));
    }
    const recorded: Answer = {
      ...answer,
      body: endingWith(body, exchange.signal, async ({ error, hasBegun }) => {
        // After the headers were sent, their code is final.
        const isSent = error === undefined || hasBegun;
        const status = isSent ? record.statusOf(code) : this.#statusOf(record, exchange, error);
        await this.#store(record, exchange, 'ResponseComplete', status, await record.responseJson());
      }),
    };
    exchange.answer = recorded;
  }

  async #completed(record: AuditRecord, exchange: Exchange, status: ResponseStatus): Promise<void> {
    if (isLongRunning(exchange.info)) await this.#store(record, exchange, 'ResponseStarted', status);
    const making = record.responseJson();
    const object = making === undefined ? undefined : await making;
    const stored = this.#store(record, exchange, 'ResponseComplete', status, object);
    if (typeof stored !== 'boolean') await stored;
  }

  #statusOf(record: AuditRecord, exchange: Exchange, error: unknown): ResponseStatus {
    if (error instanceof ClientGoneError || isClientGone(exchange)) return CLOSED_EARLY;
    const { status } = this.#parts.statusOf(error, exchange);
    record.responseObject(() => jsonLine(status));
    record.responseStatus(status);
    return record.statusOf(status.code);
  }

  /** Resolves with false if the event could not be stored and the request must fail. An aborted request does not wait. */
  // eslint-disable-next-line max-params -- the parts of one event
  #store(
    record: AuditRecord,
    exchange: Exchange,
    stage: Stage,
    status?: ResponseStatus,
    object?: Buffer,
  ): boolean | Promise<boolean> {
    if (record.omits(stage)) return true;
    const { counts, backend, log } = this.#parts;
    counts.events += 1;
    try {
      const stored = backend.process(record.event(stage, status, object), exchange.signal);
      return typeof stored === 'boolean' ? stored : stored.catch(() => false);
    } catch (error) {
      log.error({ audit: record.id, stage, error }, 'failed to build an audit event');
      return false;
    }
  }
}

/** Returns whether the listener upgrades the connection for a stream of messages. */
function isSwitched({ upgrade }: Exchange, { code, messages }: Answer): boolean {
  return upgrade && code === SUCCESS && messages !== undefined;
}

/** Returns whether the error is a defect, which the error handler answers with 500 and logs with its stack. */
function isDefect(error: unknown, status: ResponseStatus): boolean {
  return !(error instanceof StatusError) && status.reason === 'InternalError';
}
