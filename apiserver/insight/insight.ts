import { collectDefaultMetrics, Registry as MetricsRegistry } from 'prom-client';
import type { AuditCounts } from '../audit/counts';
import type { TokenCounts } from '../authn/service-account/token-counts';
import type { Answer, Exchange, Stage } from '../exchange/exchange';
import type { Registry } from '../registry/registry';
import type { ClusterCache } from '../watch/cluster-cache';
import type { AdmissionMetrics } from '../admission/admission-metrics';
import { addAdmissionMetrics } from './add-admission-metrics';
import { addAuditMetrics } from './add-audit-metrics';
import { addCacheMetrics } from './add-cache-metrics';
import { addDeprecatedApis } from './add-deprecated-apis';
import { addRequestMetrics } from './add-request-metrics';
import { addTokenMetrics } from './add-token-metrics';
import { RequestMetrics } from './request-metrics';

/** What the process shows of itself. */
export interface Insight {
  /** Counts and times every request. */
  readonly measure: Stage;
  /** Answers `/metrics` and `/debug/watchers`; undefined for any other path. */
  readonly answer: (exchange: Exchange) => Promise<Answer | undefined>;
}

export const INSIGHT_PATHS: readonly string[] = ['/debug/watchers', '/metrics'];

export interface InsightOptions {
  readonly registry: () => Registry;
  readonly cache: ClusterCache;
  readonly admission: AdmissionMetrics;
  /** Absent: the server knows no tokens of service accounts. */
  readonly tokens?: Readonly<TokenCounts>;
  /** Absent: nothing is audited. */
  readonly audit?: AuditCounts | undefined;
  /** Also what the runtime tells: memory, processor time, delay of the event loop. For the one server of a process. */
  readonly process: boolean;
}

export function createInsight({
  registry,
  cache,
  admission,
  tokens,
  audit,
  process,
}: InsightOptions): Insight {
  const requests = new RequestMetrics({
    isServed: ({ apiGroup, apiVersion, resource, subresource }) => {
      const endpoint = registry().endpoint(apiGroup, apiVersion, resource);
      return endpoint !== undefined && (subresource === '' || endpoint.subresources.has(subresource));
    },
  });
  const metrics = new MetricsRegistry();
  addRequestMetrics(metrics, requests);
  addDeprecatedApis(metrics, { requests, registry });
  addAdmissionMetrics(metrics, admission);
  addCacheMetrics(metrics, {
    stats: () => cache.stats(),
    kindOf: (resource) => registry().stored.find(({ name }) => name === resource)?.kind ?? resource,
  });
  if (tokens !== undefined) addTokenMetrics(metrics, tokens);
  if (audit !== undefined) addAuditMetrics(metrics, audit);
  if (process) collectDefaultMetrics({ register: metrics });
  return {
    measure: requests.stage,
    answer: async ({ path }) => {
      if (path === '/metrics') return textAnswer(metrics.contentType, await metrics.metrics());
      if (path === '/debug/watchers') return textAnswer('application/json', watchersDocument(cache));
      return undefined;
    },
  };
}

function textAnswer(contentType: string, text: string): Answer {
  return { code: 200, headers: { 'Content-Type': contentType }, body: Buffer.from(text) };
}

/** Every open watch: who it is, what it asked for, what waits for it. */
function watchersDocument(cache: ClusterCache): string {
  const watchers = cache.watchers().map(({ startedAt, ...watcher }) => ({
    ...watcher,
    startedAt: new Date(startedAt).toISOString(),
  }));
  return `${JSON.stringify({ revision: cache.revision, watchers }, undefined, 2)}\n`;
}
