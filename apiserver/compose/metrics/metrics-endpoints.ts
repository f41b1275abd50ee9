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
import type { Stage } from '../../engine/request/exchange';
import type { PageRoutes } from '../../engine/server/page-router';
import { createPageRouter, page } from '../../engine/server/page-router';
import type { Registry } from '../../engine/registry/registry';
import { compressed } from '../../engine/encoding/compression';
import type { ClusterCache } from '../../engine/watch-cache/cluster-cache';
import type { AdmissionMetrics } from '../../kubernetes/admission/admission-metrics';
import type { WebhookMetrics } from '../../kubernetes/admission/webhooks/webhook-metrics';
import { addAdmissionMetrics } from './add-admission-metrics';
import { addAuthenticationMetrics } from './add-authentication-metrics';
import { addAuditMetrics } from './add-audit-metrics';
import type { OwnCertificate, PresentedCertificate } from './add-certificate-metrics';
import { addCertificateMetrics } from './add-certificate-metrics';
import { addCacheMetrics } from './add-cache-metrics';
import { createDebugRouter } from './debug-router';
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

/** The metrics of the process, and the pages that show what it is doing. */
export interface MetricsEndpoints {
  /** Counts and times every request. */
  readonly measure: Stage;
  /** Times single stages. */
  readonly filters: FilterTimes;
  /** The routes of `/metrics`, and those of `createDebugRouter`. */
  readonly pages: readonly PageRoutes[];
}

export interface MetricsEndpointsOptions {
  readonly registry: () => Registry;
  readonly cache: ClusterCache;
  readonly statusOf: RequestMetricsOptions['statusOf'];
  readonly admission: AdmissionMetrics;
  readonly webhooks: WebhookMetrics;
  readonly clientRequests: ClientRequests;
  readonly graphTimes: GraphTimes;
  /** Absent: work queues are not timed. */
  readonly queues?: QueueTimes;
  /** Absent: the server does not authenticate. */
  readonly authentication?: AuthenticationCounts;
  /** Absent: the server does not support service account tokens. */
  readonly tokens?: Readonly<TokenCounts>;
  /** Absent: audit is not configured. */
  readonly audit?: AuditCounts | undefined;
  /** Absent: large requests are not offloaded. */
  readonly largeRequests?: LargeRequestCounts;
  /** Absent: there is no listener. */
  readonly connections?: ConnectionMetricsSource;
  /** Absent: no requests are proxied. */
  readonly connects?: ConnectCounts;
  /** Absent: there is no aggregation layer. */
  readonly aggregated?: AvailabilityCounts;
  /** Absent: the event loop is not monitored. */
  readonly loop?: LoopReport;
  /** Absent: requests are not queued. */
  readonly flow?: FlowReport | undefined;
  /** Absent: the store has no metrics. */
  readonly store?: StoreReport;
  /** Certificates of the process and of its store; by default none. */
  readonly certificates?: readonly (OwnCertificate | PresentedCertificate)[];
  /** Whether to include the runtime's metrics: memory, CPU time, event-loop delay. For the single server of a process. */
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
    pages: [
      createDebugRouter({ cache, webhooks, flow: flow?.control }),
      createMetricsRouter('/metrics', metrics),
    ],
  };
}

/** Creates the page that shows metrics in Prometheus' format. */
export function createMetricsRouter(path: string, metrics: MetricSet): PageRoutes {
  const router = createPageRouter();
  router.all(
    path,
    page(async ({ exchange }) => {
      const bytes = await metrics.exposition();
      const headers = { 'Content-Type': metrics.contentType };
      const answer = await compressed(exchange, { code: 200, headers, body: bytes });
      if (answer.body !== bytes) metrics.giveBack(bytes);
      return answer;
    }),
  );
  return { router, paths: [path] };
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
