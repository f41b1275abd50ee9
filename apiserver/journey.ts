import type { Build } from '../shared/build';
import { MEDIA_TYPE } from '../shared/names';
import { pageNotFound } from './verbs/answers';
import type { Aggregator } from './aggregation/aggregator';
import type { Audit } from './audit/audit';
import { closeWhenAccessRevoked } from './connect/hold-on-grounds';
import { confirmedRegistry } from './documents/discovery/confirmed-registry';
import { answerDiscovery } from './documents/discovery/discovery';
import type { IssuerDocuments } from './documents/discovery/issuer-documents';
import { pathsDocument, unknownPathDocument } from './documents/discovery/paths';
import { versionDocument } from './documents/discovery/version';
import type { Answer, Exchange, Stage } from './exchange/exchange';
import { parseRequestInfo } from './exchange/request-info';
import { mentionsYaml } from './exchange/mentions-yaml';
import { createDeadlineStage } from './exchange/deadline';
import type { Filter } from './observability/metrics/filter-times';
import type { MetricsEndpoints } from './observability/metrics/metrics-endpoints';
import { METRICS_PATHS } from './observability/metrics/metrics-endpoints';
import type { OtherDocuments } from './documents/openapi/aggregated/other-documents';
import type { ProfilingEndpoints } from './observability/profiling/profiling-endpoints';
import { createOpenApi, OPENAPI_PATHS } from './documents/openapi/openapi';
import { jsonAnswer } from './verbs/answers';
import type { VerbContext } from './verbs/context';
import { answerResource } from './verbs/dispatch';
import { READ_VERBS, methodNotAllowed } from './verbs/target';
import { refuseUnrouted } from './http/encoding/routing';
import { unknownBelow } from './verbs/unknown-path';
import type { Registry } from './registry/registry';
import { LOOP_BOUNDS, LOOP_BOUNDS_OF_YAML, TooLargeHereError } from './exchange/loop-bounds';

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
  /** Answers health paths; undefined for any other path. */
  readonly health: (exchange: Exchange) => Promise<Answer | undefined>;
  /** Those that it answers. */
  readonly healthPaths: readonly string[];
  readonly metrics: MetricsEndpoints;
  /** Answers with a backup of the store. Absent: others take them. */
  readonly backup?: ((exchange: Exchange) => Answer | undefined) | undefined;
  /** Absent: there are no profiles. */
  readonly profiles?: ProfilingEndpoints | undefined;
  /** Absent: nobody else verifies tokens of this server. */
  readonly issuer?: IssuerDocuments;
  readonly verbs: VerbContext;
  /** Carries out what is too large for the loop that serves everybody; absent: nothing is. */
  readonly large?: { answer(exchange: Exchange): Promise<Answer> };
  /** Leads to servers behind this one; absent: there are none. */
  readonly aggregator?: Aggregator;
  /** What those say of themselves; absent: nothing. */
  readonly otherDocuments?: Pick<OtherDocuments, 'current'>;
  readonly requestTimeoutMs: number;
  /** `host:port` at which clients reach this server. */
  readonly serverAddress: () => string;
  readonly build: Build;
}

/**
 * The journey of every request, in order; read it first. Around it stands the error handler (`http/server/error-handler.ts`), which
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
    createAnswerStage(parts), // the verb itself
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

/** Paths that answer and are no API; `/` lists them. */
const OTHER_PATHS: readonly string[] = ['/version', ...METRICS_PATHS, ...OPENAPI_PATHS];

/** Sets `answer`: a resource, a discovery document, a health check, the version, or the list of paths. */
function createAnswerStage(parts: PipelineParts): Stage {
  const otherPaths = [...OTHER_PATHS, ...parts.healthPaths, ...(parts.issuer?.paths ?? [])];
  const { version } = parts.build;
  const { otherDocuments } = parts;
  const openApi = createOpenApi(
    { version, serverSideApply: parts.verbs.store.serverSideApply },
    otherDocuments && (() => otherDocuments.current()),
  );
  const answerOther = async (exchange: Exchange): Promise<Answer> => {
    const registry = await confirmedRegistry(parts.verbs, exchange.path, exchange.signal);
    if (INDEX_PATHS.has(exchange.path)) return pathsAnswer(200, pathsDocument(registry, otherPaths));
    if (exchange.path === '/version' || exchange.path === '/version/') {
      if (exchange.method !== 'GET') throw methodNotAllowed();
      refuseUnrouted(exchange, { produces: ['*/*', MEDIA_TYPE.json] });
      return jsonAnswer(200, versionDocument(parts.build));
    }
    return (
      (await parts.health(exchange)) ??
      (await parts.metrics.answer(exchange)) ??
      (await parts.profiles?.(exchange)) ??
      parts.backup?.(exchange) ??
      parts.issuer?.answer(exchange) ??
      openApi(registry, exchange) ??
      answerDiscovery(
        registry,
        {
          serverAddress: parts.serverAddress(),
          aggregated: parts.aggregator?.services.all() ?? [],
          features: parts.verbs.features,
        },
        exchange,
      ) ??
      unknownAnswer(registry, exchange.path, otherPaths)
    );
  };
  return async (exchange) => {
    const { aggregator } = parts;
    const service = aggregator?.serviceFor(exchange.path);
    if (aggregator !== undefined && service !== undefined) {
      const aggregated = await aggregator.answer(exchange, service);
      closeWhenAccessRevoked(parts.verbs, exchange, aggregated);
      exchange.answer = aggregated;
      return;
    }
    // Two slashes lead to no router, whatever follows them.
    exchange.answer =
      exchange.info.isResourceRequest && !exchange.path.startsWith('//')
        ? await answerWithinBounds(parts, exchange)
        : await answerOther(exchange);
  };
}

/** Groups that are not built in are answered in plain text, as upstream does after all else; elsewhere the paths that there are. */
function unknownAnswer(registry: Registry, path: string, otherPaths: readonly string[]): Answer {
  const unknown = unknownBelow(registry, path);
  if (unknown !== undefined) throw unknown;
  return path.startsWith('/apis/')
    ? pageNotFound()
    : pathsAnswer(404, unknownPathDocument(registry, otherPaths));
}

const INDEX_PATHS: ReadonlySet<string> = new Set(['/', '/index.html']);

/** For people, whoever asks: indented, and no document of any kind. */
function pathsAnswer(code: number, document: ReturnType<typeof pathsDocument>): Answer {
  return {
    code,
    headers: { 'Content-Type': MEDIA_TYPE.json },
    body: Buffer.from(JSON.stringify(document, null, 2)),
  };
}

/** Whoever is told that something is written must find it so with the next request to this server, its webhooks and roles among it. */
async function catchUp(
  { store: { cache, cacheWaitMs: timeoutMs } }: VerbContext,
  { signal }: Exchange,
): Promise<void> {
  // What is written is written, whatever the store says now.
  await cache.freshen({ of: [], timeoutMs, refill: 'wait' }, signal).catch(() => undefined);
}

/** Begins here, where nearly every request ends; one that proves to be too large begins anew where it holds up nobody. */
function answerWithinBounds(
  { verbs, large }: Pick<PipelineParts, 'verbs' | 'large'>,
  exchange: Exchange,
): Promise<Answer> {
  if (large === undefined) return answerResource(verbs, exchange);
  exchange.bounds = mentionsYaml(exchange.headers.accept) ? LOOP_BOUNDS_OF_YAML : LOOP_BOUNDS;
  return answerResource(verbs, exchange).catch(async (error: unknown) => {
    if (!(error instanceof TooLargeHereError)) throw error;
    const answer = await large.answer(exchange);
    if (!READ_VERBS.has(exchange.info.verb)) await catchUp(verbs, exchange);
    return answer;
  });
}
