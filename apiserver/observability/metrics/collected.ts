import type { Registry } from 'prom-client';
import { Counter, Gauge } from 'prom-client';

export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

export interface CollectedMetric {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Called when somebody asks for the metrics. */
  readonly read: () => Iterable<Sample>;
}

/** A metric that is read from where it is counted anyway. */
export function addGauge(registry: Registry, { name, help, labels = [], read }: CollectedMetric): void {
  const gauge = new Gauge({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect: () => {
      gauge.reset();
      for (const [values, value] of read()) gauge.set(values, value);
    },
  });
}

/** The same for a number that only grows. */
export function addCounter(registry: Registry, { name, help, labels = [], read }: CollectedMetric): void {
  const counter = new Counter({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect: () => {
      counter.reset();
      for (const [values, value] of read()) counter.inc(values, value);
    },
  });
}
