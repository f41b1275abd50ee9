import type { Clock } from '../../../../shared/concurrency/clock';
import type { ClientRequests } from '../../../../shared/metrics/rest-client';
import type { Log } from '../../../../shared/log/log';
import type { StoredResource } from '../../../engine/registry/resource';
import type { ClusterCache } from '../../../engine/watch-cache/cluster-cache';
import type { Reading } from '../../cluster/cluster-reader';
import type { AskingParts } from './asking';
import type { CallLimits } from './call';
import { WebhookCaller } from './call';
import { credentialsOf } from './credentials';
import type { ExpressionMetrics } from '../expressions/expression-metrics';
import type { Authorizer } from '../../../engine/request/access';
import type { SelectionParts } from './selection';
import type { SourceParts } from './source';
import type { WebhookMetrics } from './webhook-metrics';

/** The shared parts of both plugins. */
export interface WebhookParts extends SourceParts, AskingParts, SelectionParts {}

export interface WebhookContext {
  /** The stored resources. */
  readonly stored: readonly StoredResource[];
  readonly cache: ClusterCache;
  readonly newReading: () => Reading;
  readonly limits: CallLimits;
  readonly metrics: WebhookMetrics;
  /** Counts evaluations of match conditions. */
  readonly expressions: ExpressionMetrics;
  readonly authorize: Authorizer;
  /** Counts the calls of this server to webhooks. */
  readonly requests: ClientRequests;
  readonly clock: Clock;
  readonly log: Log;
}

/** Builds the parts of a plugin from its section of `--admission-control-config-file`. */
export function webhookParts(context: WebhookContext, configuration: unknown): WebhookParts {
  const { stored, cache, newReading, limits, metrics, requests, clock, log, expressions, authorize } =
    context;
  const caller = new WebhookCaller({
    credentials: credentialsOf(configuration),
    limits,
    clock,
    log,
    requests,
  });
  metrics.read(() => caller.reports());
  return {
    configurations: { stored, cache, log },
    cache,
    newReading,
    caller,
    metrics,
    log,
    expressions,
    authorize,
  };
}
