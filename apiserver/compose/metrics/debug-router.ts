import { flowDump } from '../../engine/fairness/dumps';
import type { FlowControl } from '../../engine/fairness/fairness';
import type { Answer } from '../../engine/request/exchange';
import type { PageRoutes } from '../../engine/server/page-router';
import { createPageRouter, page } from '../../engine/server/page-router';
import type { ClusterCache } from '../../engine/watch-cache/cluster-cache';
import type { WebhookReport } from '../../kubernetes/admission/webhooks/call';
import type { WebhookMetrics } from '../../kubernetes/admission/webhooks/webhook-metrics';

export interface DebugRouterOptions {
  readonly cache: ClusterCache;
  readonly webhooks: WebhookMetrics;
  /** Undefined if requests are not queued: the dumps of priority and fairness have no route then. */
  readonly flow: FlowControl | undefined;
}

const WATCHERS_PATH = '/debug/watchers';
const WEBHOOKS_PATH = '/debug/webhooks';

/** Creates the routes of the debug pages: open watches, admission webhooks, and kube-apiserver's dumps of priority and fairness. */
export function createDebugRouter({ cache, webhooks, flow }: DebugRouterOptions): PageRoutes {
  const router = createPageRouter();
  router.all(
    WATCHERS_PATH,
    page(() => textAnswer('application/json', watchersDocument(cache))),
  );
  router.all(
    WEBHOOKS_PATH,
    page(() => textAnswer('application/json', webhooksDocument(webhooks))),
  );
  if (flow !== undefined) {
    router.all(
      '/debug/api_priority_and_fairness/:dump',
      page(({ exchange }) => {
        const dump = flowDump(flow, exchange);
        return dump === undefined ? undefined : textAnswer('text/plain; charset=utf-8', dump);
      }),
    );
  }
  return { router, paths: [WATCHERS_PATH, WEBHOOKS_PATH] };
}

function textAnswer(contentType: string, text: string): Answer {
  return { code: 200, headers: { 'Content-Type': contentType }, body: Buffer.from(text) };
}

/** Formats every open watch: its user, its request, its queue. */
function watchersDocument(cache: ClusterCache): string {
  const watchers = cache.watchers().map(({ startedAt, ...watcher }) => ({
    ...watcher,
    startedAt: new Date(startedAt).toISOString(),
  }));
  return `${JSON.stringify({ revision: cache.revision, watchers }, undefined, 2)}\n`;
}

/** Formats the state of the admission webhooks that were called since the server started, or since they were configured. */
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
