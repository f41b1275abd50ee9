import type { HistogramConfiguration, LabelValues, Registry } from 'prom-client';
import { Histogram } from 'prom-client';
import type { DurationHistogram } from './duration-histogram';

export interface LabelledHistogram<Label extends string> {
  readonly labels: LabelValues<Label>;
  readonly durations: DurationHistogram;
}

type Metric<Label extends string> = Awaited<ReturnType<Histogram<Label>['get']>>;

/** Shows histograms that are kept elsewhere. */
export function addHistogram(
  registry: Registry,
  about: { readonly name: string; readonly help: string; readonly labels: readonly string[] },
  read: () => Iterable<LabelledHistogram<string>>,
): void {
  const { name, help, labels } = about;
  registry.registerMetric(new BucketHistogram({ name, help, labelNames: [...labels], registers: [] }, read));
}

/** A histogram of prom-client whose counts are kept elsewhere, where counting is cheaper, and read only when somebody asks. */
class BucketHistogram<Label extends string> extends Histogram<Label> {
  readonly #about: { readonly name: string; readonly help: string };
  readonly #read: () => Iterable<LabelledHistogram<Label>>;

  constructor(configuration: HistogramConfiguration<Label>, read: () => Iterable<LabelledHistogram<Label>>) {
    super(configuration);
    this.#about = configuration;
    this.#read = read;
  }

  override async get(): Promise<Metric<Label>> {
    const values: object[] = [];
    for (const each of this.#read()) values.push(...this.#valuesOf(each));
    const { name, help } = this.#about;
    return Promise.resolve({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values,
    } as unknown as Metric<Label>);
  }

  /** What prom-client calls to write the text form. */
  async getForPromString(): Promise<Metric<Label>> {
    return this.get();
  }

  #valuesOf({ labels, durations }: LabelledHistogram<Label>): object[] {
    const { name } = this.#about;
    const buckets = durations.cumulative().map((value, at) => ({
      metricName: `${name}_bucket`,
      labels: { ...labels, le: durations.boundsSeconds[at] },
      value,
    }));
    const { count, sumSeconds } = durations;
    return [
      ...buckets,
      { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
      { metricName: `${name}_sum`, labels, value: sumSeconds },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
