import type { Audit } from './audit/audit';
import type { Answer, Exchange, Stage } from './request/exchange';
import { parseRequestInfo } from './request/request-info';
import { createDeadlineStage } from './request/deadline';
import type { Filter, FilterTimes } from './observability/metrics/filter-times';

/** What the stages need of the process. */
export interface PipelineParts {
  /** Undefined without an audit policy. */
  readonly audit?: Pick<Audit, 'open' | 'record'> | undefined;
  /** Answers pages of other origins that ask whether they may send a request. Absent: nobody may. */
  readonly preflight?: Stage | undefined;
  readonly authenticate: Stage;
  readonly impersonate: Stage;
  /** Refuses the requests of a user for whose answers or bodies there is no room. */
  readonly limitMemory: Stage;
  /** Absent: nothing is refused because of how busy the server is. */
  readonly overload?: Stage;
  /** Absent: any number of requests is carried out at a time. */
  readonly flowControl?: Stage;
  readonly authorize: Stage;
  /** Refuses writes of which nobody knows yet in which version they will be stored. Absent: none are. */
  readonly storageVersions?: Stage;
  /** Sets `answer`: the resource, or a page outside the resource paths. */
  readonly answer: Stage;
  readonly metrics: { readonly measure: Stage; readonly filters: Pick<FilterTimes, 'timed'> };
  readonly requestTimeoutMs: number;
}

/**
 * The pipeline of every request, in order; read it first. Around it stands the error handler (`http/server/error-handler.ts`), which
 * turns what a stage throws into a Status.
 */
export function createPipeline(parts: PipelineParts): (exchange: Exchange) => Promise<void> {
  const stages: readonly (Stage | readonly [Filter, Stage])[] = [
    requestInfo, // what the path asks for
    ...(parts.preflight === undefined ? [] : [parts.preflight]), // whether a page may ask
    parts.metrics.measure, // what it costs, and how it ends
    ...(parts.audit === undefined ? [] : [parts.audit.open]), // who tried and was turned away
    createDeadlineStage(parts.requestTimeoutMs), // nothing waits for ever
    ['authentication', parts.authenticate], // who is asking
    ...(parts.audit === undefined ? [] : [['audit', parts.audit.record] as const]), // what is written down of it
    ['impersonation', parts.impersonate], // as whom, if not as themselves
    parts.limitMemory, // whether there is room for it and its answer
    ...(parts.overload === undefined ? [] : [parts.overload]), // whether there is time for it
    ...(parts.flowControl === undefined ? [] : [['priorityandfairness', parts.flowControl] as const]), // whose turn it is
    ['authorization', parts.authorize], // whether they may
    ...(parts.storageVersions === undefined ? [] : [parts.storageVersions]), // whether others know what it stores
    parts.answer, // the verb itself
  ];
  const { filters } = parts.metrics;
  // No promise of its own for each stage: this is on the path of everything.
  return stages.reduceRight<(exchange: Exchange) => Promise<void>>(
    (next, stage) =>
      typeof stage === 'function'
        ? (exchange) => stage(exchange, () => next(exchange))
        : filters.timed(...stage, next),
    () => Promise.resolve(),
  );
}

/** Sets `info`; `answer` for a path whose percent-encoding is broken, which the Go server refuses before it asks who understands what. */
const requestInfo: Stage = (exchange, next) => {
  try {
    exchange.info = parseRequestInfo(exchange.method, exchange.path, exchange.query);
  } catch (error) {
    if (!(error instanceof URIError)) return Promise.reject(error);
    exchange.answer = NO_PATH;
    return Promise.resolve();
  }
  return next();
};

const NO_PATH: Answer = {
  code: 400,
  headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  body: Buffer.from('400 Bad Request'),
};
