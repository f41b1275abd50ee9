import type { MetricChoice } from '../../../shared/metrics/metric-choice';
import { MetricSet } from '../../../shared/metrics/metric-set';
import { runtimeMetrics } from '../../../shared/metrics/runtime-metrics';
import type { Build } from '../../../shared/build';
import { addBuildInfo } from '../../../shared/metrics/build-info';
import type { QueueTimes } from '../../../shared/concurrency/queue-times';
import { addQueueMetrics } from '../../../shared/concurrency/queue-times';
import { defined } from '../../../shared/defined';
import type { AuditCounts } from '../../engine/audit/counts';
import type { AuthenticationCounts } from '../../engine/authn/authentication-counts';
import type { TokenCounts } from '../../kubernetes/auth/service-account/token-counts';
import type { Answer, Exchange, Stage } from '../../engine/request/exchange';
import type { Registry } from '../../engine/registry/registry';
import { compressed } from '../../engine/encoding/compression';
import type { ClusterCache } from '../../engine/watch-cache/cluster-cache';
import type { AdmissionMetrics } from '../../kubernetes/admission/admission-metrics';
import type { WebhookReport } from '../../kubernetes/admission/webhooks/call';
import type { WebhookMetrics } from '../../kubernetes/admission/webhooks/webhook-metrics';
import { addAdmissionMetrics } from './add-admission-metrics';
import { addAuthenticationMetrics } from './add-authentication-metrics';
import { addAuditMetrics } from './add-audit-metrics';
import type { OwnCertificate } from './add-certificate-metrics';
import { addCertificateMetrics } from './add-certificate-metrics';
import { addCacheMetrics } from './add-cache-metrics';
import { flowDump } from '../../engine/fairness/dumps';
import type { FlowReport } from './add-flow-metrics';
import { addFlowMetrics } from './add-flow-metrics';
import type { ConnectionMetricsSource } from './add-connection-metrics';
import { addConnectionMetrics } from './add-connection-metrics';
import type { ConnectCounts } from '../../engine/proxy/connect-counts';
import type { AvailabilityCounts } from '../../kubernetes/aggregation/availability';
import { addAggregatorMetrics } from './add-aggregator-metrics';
import { addConnectMetrics } from './add-connect-metrics';
import { addDurationMetrics } from './add-duration-metrics';
import { addDeprecatedApis } from './add-deprecated-apis';
import type { LargeRequestCounts } from './add-large-request-metrics';
import { addLargeRequestMetrics } from './add-large-request-metrics';
import type { LoopReport } from './add-overload-metrics';
import { addOverloadMetrics } from './add-overload-metrics';
import type { FilterTimes } from '../../engine/observability/metrics/filter-times';
import { addRequestMetrics } from './add-request-metrics';
import type { StoreReport } from './add-store-metrics';
import { addStoreMetrics } from './add-store-metrics';
import { addTokenMetrics } from './add-token-metrics';
import { addWebhookMetrics } from './add-webhook-metrics';
import type { GraphTimes } from '../../kubernetes/auth/node/graph-times';
import type { ClientRequests } from '../../../shared/metrics/rest-client';
import { addRestClientMetrics } from '../../../shared/metrics/rest-client';
import type { RequestMetricsOptions } from '../../engine/observability/metrics/request-metrics';
import { RequestMetrics } from '../../engine/observability/metrics/request-metrics';

/** The paths at which the process shows its metrics and what it is doing. */
export interface MetricsEndpoints {
  /** Counts and times every request. */
  readonly measure: Stage;
  /** Times single stages. */
  readonly filters: FilterTimes;
  /** Answers `/metrics`, `/debug/watchers`, `/debug/webhooks` and the pages of flow control; undefined for any other path. */
  readonly answer: (exchange: Exchange) => Promise<Answer | undefined>;
}

export const METRICS_PATHS: readonly string[] = ['/debug/watchers', '/debug/webhooks', '/metrics'];

export interface MetricsEndpointsOptions {
  readonly registry: () => Registry;
  readonly cache: ClusterCache;
  readonly statusOf: RequestMetricsOptions['statusOf'];
  readonly admission: AdmissionMetrics;
  readonly webhooks: WebhookMetrics;
  readonly clientRequests: ClientRequests;
  readonly graphTimes: GraphTimes;
  /** Absent: nobody times the work queues. */
  readonly queues?: QueueTimes;
  /** Absent: no request has to be authenticated. */
  readonly authentication?: AuthenticationCounts;
  /** Absent: the server knows no tokens of service accounts. */
  readonly tokens?: Readonly<TokenCounts>;
  /** Absent: nothing is audited. */
  readonly audit?: AuditCounts | undefined;
  /** Absent: large requests are like any other. */
  readonly largeRequests?: LargeRequestCounts;
  /** Absent: there is no listener. */
  readonly connections?: ConnectionMetricsSource;
  /** Absent: no requests go on to other servers. */
  readonly connects?: ConnectCounts;
  /** Absent: there are no servers behind this one. */
  readonly aggregated?: AvailabilityCounts;
  /** Absent: nobody watches the event loop. */
  readonly loop?: LoopReport;
  /** Absent: requests are not queued. */
  readonly flow?: FlowReport | undefined;
  /** Absent: nothing is shown of the store. */
  readonly store?: StoreReport;
  /** Those of the process itself; by default none. */
  readonly certificates?: readonly OwnCertificate[];
  /** Also the metrics of the runtime: memory, processor time, delay of the event loop. For the one server of a process. */
  readonly processMetrics: boolean;
  readonly build: Build;
  /** By default all. */
  readonly choice?: MetricChoice;
}

export function createMetricsEndpoints({
  registry,
  cache,
  statusOf,
  admission,
  webhooks,
  authentication,
  tokens,
  audit,
  largeRequests,
  connections,
  connects,
  aggregated,
  loop,
  flow,
  store,
  queues,
  certificates = [],
  processMetrics,
  build,
  ...others
}: MetricsEndpointsOptions): MetricsEndpoints {
  const requests = new RequestMetrics({
    statusOf,
    isServed: ({ apiGroup, apiVersion, resource, subresource }) => {
      const endpoint = registry().endpoint(apiGroup, apiVersion, resource);
      return endpoint !== undefined && (subresource === '' || endpoint.subresources.has(subresource));
    },
  });
  const metrics = new MetricSet(defined({ choice: others.choice }));
  addBuildInfo(metrics, build);
  addRequestMetrics(metrics, requests);
  addDurationMetrics(metrics, others.graphTimes);
  addDeprecatedApis(metrics, { requests, registry });
  addAdmissionMetrics(metrics, admission);
  addWebhookMetrics(metrics, webhooks);
  addRestClientMetrics(metrics, others.clientRequests);
  const stats = metrics.oncePerReading(() => cache.stats());
  addCacheMetrics(metrics, { stats, kindOf: kindsOf(registry) });
  if (authentication !== undefined) addAuthenticationMetrics(metrics, authentication);
  if (tokens !== undefined) addTokenMetrics(metrics, tokens);
  if (audit !== undefined) addAuditMetrics(metrics, audit);
  if (largeRequests !== undefined) addLargeRequestMetrics(metrics, largeRequests);
  if (connections !== undefined) addConnectionMetrics(metrics, connections);
  if (connects !== undefined) addConnectMetrics(metrics, connects);
  if (aggregated !== undefined) addAggregatorMetrics(metrics, aggregated);
  if (loop !== undefined) addOverloadMetrics(metrics, loop);
  if (flow !== undefined) addFlowMetrics(metrics, flow);
  if (store !== undefined) addStoreMetrics(metrics, store);
  if (queues !== undefined) addQueueMetrics(metrics, queues);
  if (certificates.length > 0) addCertificateMetrics(metrics, certificates);
  if (processMetrics) metrics.addRuntime(runtimeMetrics());
  return {
    measure: requests.stage,
    filters: requests.filters,
    answer: async (exchange) => {
      const { path, query } = exchange;
      if (path === '/metrics') {
        const bytes = await metrics.exposition();
        const answer = await compressed(exchange, bytesAnswer(metrics.contentType, bytes));
        if (answer.body !== bytes) metrics.giveBack(bytes);
        return answer;
      }
      if (path === '/debug/watchers') return textAnswer('application/json', watchersDocument(cache));
      if (path === '/debug/webhooks') return textAnswer('application/json', webhooksDocument(webhooks));
      const dump = flow === undefined ? undefined : flowDump(flow.control, { path, query });
      return dump === undefined ? undefined : textAnswer('text/plain; charset=utf-8', dump);
    },
  };
}

/** Names of resources to kinds. The map is made again when what is served has changed: there may be hundreds of custom resources. */
function kindsOf(registry: () => Registry): (resource: string) => string {
  let seen: Registry | undefined;
  let kinds: ReadonlyMap<string, string> = new Map();
  return (resource) => {
    const current = registry();
    if (current !== seen) kinds = new Map(current.stored.map(({ name, kind }) => [name, kind]));
    seen = current;
    return kinds.get(resource) ?? resource;
  };
}

function textAnswer(contentType: string, text: string): Answer {
  return bytesAnswer(contentType, Buffer.from(text));
}

function bytesAnswer(contentType: string, body: Buffer): Answer {
  return { code: 200, headers: { 'Content-Type': contentType }, body };
}

/** Every open watch: who it is, what it asked for, what waits for it. */
function watchersDocument(cache: ClusterCache): string {
  const watchers = cache.watchers().map(({ startedAt, ...watcher }) => ({
    ...watcher,
    startedAt: new Date(startedAt).toISOString(),
  }));
  return `${JSON.stringify({ revision: cache.revision, watchers }, undefined, 2)}\n`;
}

/** The admission webhooks that were asked since the server started, or since they were configured, and how they do. */
function webhooksDocument(metrics: WebhookMetrics): string {
  const webhooks = metrics.reports().map(({ hook, calls, waiting, ...health }) => ({
    type: hook.type,
    configuration: hook.configuration,
    name: hook.name,
    failurePolicy: hook.failsOpen ? 'Ignore' : 'Fail',
    ...breakerState(health),
    executing: calls,
    waiting,
    failures: Object.fromEntries(health.failures),
    ...lastFailureOf(health),
  }));
  return `${JSON.stringify({ webhooks }, undefined, 2)}\n`;
}

function breakerState({
  outage,
  closedAtMs,
  untilProbeMs,
}: Pick<WebhookReport, 'outage' | 'closedAtMs' | 'untilProbeMs'>): object {
  if (outage === undefined) return { state: 'closed', since: new Date(closedAtMs).toISOString() };
  return {
    state: 'open',
    since: new Date(outage.sinceMs).toISOString(),
    consecutiveFailures: outage.failures,
    nextProbeInMs: Math.ceil(untilProbeMs),
  };
}

function lastFailureOf({ lastFailure }: Pick<WebhookReport, 'lastFailure'>): object {
  if (lastFailure === undefined) return {};
  const { atMs, reason, error } = lastFailure;
  return { lastFailure: { at: new Date(atMs).toISOString(), reason, error } };
}
