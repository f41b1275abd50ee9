import { collectDefaultMetrics, Registry } from 'prom-client';

/** Sums with names of counters, which they are not; each also exists by type. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Returns the library's process metrics: memory, CPU time, event-loop delay. For the only server of a process. */
export function runtimeMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  return registry;
}
