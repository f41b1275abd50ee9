import { StatusError } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import { jsonLine } from '../encoding/json-encoder';
import type { Answer, Exchange, Stage as JourneyStage } from '../request/exchange';
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
  /** The longest object that goes into an event. */
  readonly objectBytesMax: number;
  /** What the client is told of an error. */
  readonly statusOf: (error: unknown, exchange: Exchange) => StatusError;
}

/** Auditing as two stages of the pipeline. Without a policy there is neither. */
export interface Audit {
  /** Stands behind `request info`: notes what ends before it is known who asks. Sets `exchange.audit`. */
  readonly open: JourneyStage;
  /** Stands behind `authentication`: makes the events of every request that gets so far. */
  readonly record: JourneyStage;
  readonly counts: AuditCounts;
  /** Writes what is under way; what is not written when the signal aborts is lost, and counted. */
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

/** What stands in the event of a request whose client did not wait for its answer; as kube-apiserver has it. */
const CLOSED_EARLY: ResponseStatus = { status: 'Success', message: 'Connection closed early', code: 200 };
const INTERNAL_ERROR = 500;
const SUCCESS = 200;
const SWITCHING_PROTOCOLS = 101;

class Recorder {
  readonly #parts: AuditParts;

  constructor(parts: AuditParts) {
    this.#parts = parts;
  }

  readonly open: JourneyStage = async (exchange, next) => {
    const record = new AuditRecord(exchange, this.#parts);
    exchange.audit = record;
    try {
      await next();
    } catch (error) {
      if (record.level === undefined) await this.#refused(record, exchange, error);
      throw error;
    }
  };

  readonly record: JourneyStage = async (exchange, next) => {
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

  /** The request's record under the policy; undefined when the policy wants none. */
  #begun(exchange: Exchange): AuditRecord | undefined {
    const { audit: record } = exchange;
    if (!(record instanceof AuditRecord)) throw new Error('audit begins before it is opened');
    const decision = this.#parts.decide(exchange);
    this.#parts.counts.countLevel(decision.level);
    record.begin(decision);
    if (decision.level !== 'None') return record;
    exchange.audit = undefined;
    return undefined;
  }

  /** It ended before it was known who asks: there is one event, as kube-apiserver makes it. */
  async #refused(record: AuditRecord, exchange: Exchange, error: unknown): Promise<void> {
    if (this.#begun(exchange) === undefined) return;
    const status = this.#statusOf(record, exchange, error);
    await this.#store(record, exchange, 'ResponseStarted', status, await record.responseJson());
  }

  async #failed(record: AuditRecord, exchange: Exchange, error: unknown): Promise<void> {
    const status = this.#statusOf(record, exchange, error);
    if (isUnforeseen(error, status)) {
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
        // Once the head is out, its code stands.
        const isTold = error === undefined || hasBegun;
        const status = isTold ? record.statusOf(code) : this.#statusOf(record, exchange, error);
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

  /** False when the event could not be stored and the request must not go on. A request that is given up does not wait. */
  // eslint-disable-next-line max-params -- the parts of one event, told in one place
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

/** The listener answers a stream of messages with an upgraded connection. */
function isSwitched({ upgrade }: Exchange, { code, messages }: Answer): boolean {
  return upgrade && code === SUCCESS && messages !== undefined;
}

/** A defect rather than an outcome: what the error handler answers with 500 and a stack in the log. */
function isUnforeseen(error: unknown, status: ResponseStatus): boolean {
  return !(error instanceof StatusError) && status.reason === 'InternalError';
}
