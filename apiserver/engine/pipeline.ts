import type { Audit } from './audit/audit';
import type { Answer, Exchange, Stage } from './request/exchange';
import { parseRequestInfo } from './request/request-info';
import { createDeadlineStage } from './request/deadline';
import type { Filter, FilterTimes } from './observability/metrics/filter-times';

/** The dependencies of the stages. */
export interface PipelineParts {
  /** Undefined without an audit policy. */
  readonly audit?: Pick<Audit, 'open' | 'record'> | undefined;
  /** Handles CORS preflight requests. Absent: no other origins are allowed. */
  readonly preflight?: Stage | undefined;
  readonly authenticate: Stage;
  readonly impersonate: Stage;
  /** Refuses requests of a user whose unread responses or bodies fill their share of memory. */
  readonly limitMemory: Stage;
  /** Load shedding. Absent: the server never refuses because it is busy. */
  readonly overload?: Stage;
  /** Priority and fairness. Absent: the number of concurrent requests is not limited. */
  readonly flowControl?: Stage;
  readonly authorize: Stage;
  /** Refuses writes of resources whose storage version is not agreed yet. Absent: none are refused. */
  readonly storageVersions?: Stage;
  /** Sets `answer`: the resource, or a page outside the resource paths. */
  readonly answer: Stage;
  readonly metrics: { readonly measure: Stage; readonly filters: Pick<FilterTimes, 'timed'> };
  readonly requestTimeoutMs: number;
}

/**
 * The pipeline of every request, in order; read it first. The error handler (`server/error-handler.ts`) is
 * around it, and turns errors of the stages into a Status.
 */
export function createPipeline(parts: PipelineParts): (exchange: Exchange) => Promise<void> {
  const stages: readonly (Stage | readonly [Filter, Stage])[] = [
    requestInfo, // parses the path
    ...(parts.preflight === undefined ? [] : [parts.preflight]), // CORS preflight
    parts.metrics.measure, // counts and times the request
    ...(parts.audit === undefined ? [] : [parts.audit.open]), // records refused requests too
    createDeadlineStage(parts.requestTimeoutMs), // 504 after the request timeout
    ['authentication', parts.authenticate], // identifies the user
    ...(parts.audit === undefined ? [] : [['audit', parts.audit.record] as const]), // writes the audit event
    ['impersonation', parts.impersonate], // replaces the user
    parts.limitMemory, // 429 if the memory share of the user is full
    ...(parts.overload === undefined ? [] : [parts.overload]), // 429 if the event loop is late
    ...(parts.flowControl === undefined ? [] : [['priorityandfairness', parts.flowControl] as const]), // waits for a seat
    ['authorization', parts.authorize], // 403 without permission
    ...(parts.storageVersions === undefined ? [] : [parts.storageVersions]), // 503 until the storage version is agreed
    parts.answer, // runs the verb
  ];
  const { filters } = parts.metrics;
  // No promise for each stage: this is the hot path of every request.
  return stages.reduceRight<(exchange: Exchange) => Promise<void>>(
    (next, stage) =>
      typeof stage === 'function'
        ? (exchange) => stage(exchange, () => next(exchange))
        : filters.timed(...stage, next),
    () => Promise.resolve(),
  );
}

/**
 * Sets `info`. A path with malformed percent-encoding gets the 400 of the Go server, before authentication.
 */
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
