import { collectDefaultMetrics, Registry } from 'prom-client';

/** Sums whose names are those of counters, which they are not; each is there by type, too. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** What the library tells of the process: memory, processor time, delay of the event loop. For the one server of a process. */
export function runtimeMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  return registry;
}
