import type { MetricChoice } from '../../../shared/metrics/metric-choice';
import { MetricSet } from '../../../shared/metrics/metric-set';
import type { HealthPath } from '../../engine/observability/health/health-check';
import type { PageRoutes } from '../../engine/server/page-router';
import { createMetricsRouter } from './metrics-endpoints';

interface CheckResults {
  readonly labels: { readonly name: string; readonly type: HealthPath };
  isHealthy: boolean;
  successes: number;
  errors: number;
}

/** The results of health checks, one entry for each check of a path: their number is fixed. */
export class HealthResults {
  readonly #results = new Map<string, CheckResults>();

  observe(type: HealthPath, name: string, isHealthy: boolean): void {
    const key = `${type}/${name}`;
    const known = this.#results.get(key);
    const results = known ?? { labels: { name, type }, isHealthy, successes: 0, errors: 0 };
    if (known === undefined) this.#results.set(key, results);
    results.isHealthy = isHealthy;
    if (isHealthy) results.successes += 1;
    else results.errors += 1;
  }

  values(): Iterable<Readonly<CheckResults>> {
    return this.#results.values();
  }
}

/** Creates the page `/metrics/slis`: metrics of health checks for service level indicators, as k8s.io/component-base `slis` names them. */
export function createHealthMetricsRouter(
  results: HealthResults,
  choice: MetricChoice | undefined,
): PageRoutes {
  const metrics = new MetricSet(choice === undefined ? {} : { choice });
  metrics.gauge({
    name: 'kubernetes_healthcheck',
    help: 'The result of the last health check: 1 if it passed.',
    labels: ['name', 'type'],
    *read() {
      for (const { labels, isHealthy } of results.values()) yield [labels, Number(isHealthy)];
    },
  });
  metrics.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'Health checks by their result.',
    labels: ['name', 'type', 'status'],
    *read() {
      for (const { labels, successes, errors } of results.values()) {
        if (successes > 0) yield [{ ...labels, status: 'success' }, successes];
        if (errors > 0) yield [{ ...labels, status: 'error' }, errors];
      }
    },
  });
  return createMetricsRouter('/metrics/slis', metrics);
}
