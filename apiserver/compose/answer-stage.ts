import type { Build } from '../../shared/build';
import { MEDIA_TYPE } from '../../shared/names';
import { pageNotFound, jsonAnswer } from '../engine/handlers/answers';
import type { Aggregator } from '../kubernetes/aggregation/aggregator';
import { closeWhenAccessRevoked } from '../engine/proxy/close-when-access-revoked';
import { confirmedRegistry } from '../kubernetes/discovery/confirmed-registry';
import { answerDiscovery } from '../kubernetes/discovery/discovery';
import type { IssuerDocuments } from '../kubernetes/discovery/issuer-documents';
import { pathsDocument, unknownPathDocument } from '../kubernetes/discovery/paths';
import { versionDocument } from '../kubernetes/discovery/version';
import type { Answer, Exchange, Stage } from '../engine/request/exchange';
import { mentionsYaml } from '../engine/request/mentions-yaml';
import type { MetricsEndpoints } from './metrics/metrics-endpoints';
import { METRICS_PATHS } from './metrics/metrics-endpoints';
import type { OtherDocuments } from '../kubernetes/openapi/aggregated/other-documents';
import type { ProfilingEndpoints } from '../engine/observability/profiling/profiling-endpoints';
import { createOpenApi, OPENAPI_PATHS } from '../kubernetes/openapi/openapi';
import type { VerbContext } from '../engine/handlers/context';
import { answerResource } from '../engine/handlers/dispatch';
import { READ_VERBS, methodNotAllowed, unknownBelow } from '../engine/handlers/target';
import { refuseUnrouted } from '../engine/encoding/routing';
import type { Registry } from '../engine/registry/registry';
import { LOOP_BOUNDS, LOOP_BOUNDS_OF_YAML, TooLargeHereError } from '../engine/request/loop-bounds';

/** What answers a request once the stages before it have allowed it. */
export interface AnswerParts {
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
  /** `host:port` at which clients reach this server. */
  readonly serverAddress: () => string;
  readonly build: Build;
}

/** Paths that answer and are no API; `/` lists them. */
const OTHER_PATHS: readonly string[] = ['/version', ...METRICS_PATHS, ...OPENAPI_PATHS];

/** Sets `answer`: a resource, a discovery document, a health check, the version, or the list of paths. */
export function createAnswerStage(parts: AnswerParts): Stage {
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
  { verbs, large }: Pick<AnswerParts, 'verbs' | 'large'>,
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
