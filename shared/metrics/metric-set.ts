import { setImmediate as turn } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import type { Bucketed } from './buckets';
import type { KeptSeries, MetricType } from './exposition';
import { Exposition, labelText } from './exposition';
import type { MetricChoice } from './metric-choice';
import { ALL_METRICS, METRICS_RELEASE } from './metric-choice';
import type { Stability } from './stability';
import { STABILITY } from './stability';

export type Labels = Readonly<Record<string, string>>;

/** One series. Labels that are the same object in every reading are rendered once. */
export type Sample<Value = number> = readonly [labels: Labels, value: Value];

export interface CollectedMetric<Value = number> {
  /** It has a row in {@link STABILITY}. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Called for each scrape. Label values come from a bounded set, never from a client's free text. */
  readonly read: () => Iterable<Sample<Value>>;
}

export interface MetricSetOptions {
  readonly choice?: MetricChoice;
  /** By name; that of the project if not given. */
  readonly stability?: ReadonlyMap<string, Stability>;
}

/** The metrics of a process: each is read where it is counted, and only for a scrape. */
export class MetricSet {
  readonly contentType = 'text/plain; version=0.0.4; charset=utf-8';
  readonly #choice: MetricChoice;
  readonly #stability: ReadonlyMap<string, Stability>;
  readonly #writers: ((to: Exposition) => Iterable<void>)[] = [];
  readonly #names = new Set<string>();
  #runtime: Registry | undefined;
  #underWay: Promise<Exposition> | undefined;
  /** It stays: what has not changed is copied from it. */
  #last: Exposition | undefined;
  /** It has no readers: the next one reuses its memory, 15 MB on a busy server. */
  #free: Exposition | undefined;
  readonly #readers = new WeakMap<Exposition, number>();
  readonly #given = new WeakMap<Buffer, Exposition>();
  /** Number of scrapes. */
  #readings = 0;

  constructor({ choice = ALL_METRICS, stability = STABILITY }: MetricSetOptions = {}) {
    this.#choice = choice;
    this.#stability = stability;
  }

  gauge(metric: CollectedMetric): void {
    this.#add(metric, 'gauge', numbers(metric.name));
  }

  /** A number that only grows. */
  counter(metric: CollectedMetric): void {
    this.#add(metric, 'counter', numbers(metric.name));
  }

  histogram(metric: CollectedMetric<Bucketed>): void {
    const kept: KeptSeries = new WeakMap();
    this.#add(metric, 'histogram', {
      write: (to, labels, value) => {
        to.histogram(metric.name, labels, value, kept);
      },
      sum: mergedBuckets,
    });
  }

  /** Returns a source of several metrics that is computed once per scrape. */
  oncePerReading<Value>(make: () => Value): () => Value {
    let made: { readonly reading: number; readonly value: Value } | undefined;
    return () => {
      if (made?.reading !== this.#readings) made = { reading: this.#readings, value: make() };
      return made.value;
    };
  }

  /** Adds a library's runtime metrics: memory, CPU time, event-loop delay. They have no stability class. */
  addRuntime(registry: Registry): void {
    for (const name of this.#choice.disabled) registry.removeSingleMetric(name);
    this.#runtime = registry;
  }

  /**
   * Returns the Prometheus text format. Writing yields the event loop, and concurrent scrapes share the result. Return the bytes by
   * {@link giveBack} to reuse their memory.
   */
  async exposition(): Promise<Buffer> {
    this.#underWay ??= this.#write().finally(() => {
      this.#underWay = undefined;
    });
    const exposition = await this.#underWay;
    const bytes = exposition.take();
    this.#given.set(bytes, exposition);
    this.#readers.set(exposition, (this.#readers.get(exposition) ?? 0) + 1);
    return bytes;
  }

  /** Returns bytes that have no reader any more: they will be overwritten. */
  giveBack(bytes: Buffer): void {
    const exposition = this.#given.get(bytes);
    if (exposition === undefined) return;
    this.#given.delete(bytes);
    const readers = (this.#readers.get(exposition) ?? 0) - 1;
    this.#readers.set(exposition, readers);
    if (readers === 0 && exposition !== this.#last) this.#free = exposition;
  }

  #add<Value>(
    { name, help, labels = [], read }: CollectedMetric<Value>,
    type: MetricType,
    { write, sum }: ValueForm<Value>,
  ): void {
    const stability = this.#stability.get(name);
    if (stability === undefined) throw new TypeError(`the metric ${name} has no class of stability`);
    if (this.#names.has(name)) throw new TypeError(`the metric ${name} is there twice`);
    this.#names.add(name);
    if (this.#isLeftOut(name, stability)) return;
    const allowed = this.#choice.allowed.get(name);
    const textOf = labelTexts(labels, allowed);
    // Series with values that are not allowed become one.
    const readAll =
      allowed === undefined ? read : (): Iterable<Sample<Value>> => merged(read(), { labels, allowed, sum });
    const fullHelp = `[${stability.level}] ${isPast(stability.deprecated) ? `(Deprecated since ${String(stability.deprecated)}) ` : ''}${help}`;
    this.#writers.push(function* writer(to) {
      to.head(name, type, fullHelp);
      for (const [values, value] of readAll()) {
        write(to, textOf(values), value);
        yield;
      }
    });
  }

  #isLeftOut(name: string, { deprecated }: Stability): boolean {
    return this.#choice.disabled.has(name) || (isHidden(deprecated) && !this.#choice.showHidden);
  }

  async #write(): Promise<Exposition> {
    this.#readings += 1;
    const before = this.#last;
    const to = new Exposition(before, this.#free);
    this.#free = undefined;
    let turnAt = TURN_BYTES;
    for (const writer of this.#writers) {
      for (const _ of writer(to)) {
        if (to.length < turnAt) continue;
        await turn();
        turnAt = to.length + TURN_BYTES;
      }
    }
    if (this.#runtime !== undefined) to.text(await this.#runtime.metrics());
    this.#last = to;
    to.close();
    if (before !== undefined && this.#readers.get(before) === 0) this.#free = before;
    return to;
  }
}

/** As much as is written in about a millisecond. */
const TURN_BYTES = 1_024 * 1_024;
const UNEXPECTED = 'unexpected';

/** How values of one type are written and added. */
interface ValueForm<Value> {
  readonly write: (to: Exposition, labels: string, value: Value) => void;
  readonly sum: (left: Value, right: Value) => Value;
}

function numbers(name: string): ValueForm<number> {
  return {
    write: (to, labels, value) => {
      to.sample(name, labels, value);
    },
    sum: (left, right) => left + right,
  };
}

function mergedBuckets(left: Bucketed, right: Bucketed): Bucketed {
  const counts = Array.from({ length: left.bounds.length + 1 }, (_each, at) => {
    return (left.counts[at] ?? 0) + (right.counts[at] ?? 0);
  });
  return { bounds: left.bounds, counts, sum: left.sum + right.sum };
}

type Allowed = ReadonlyMap<string, ReadonlySet<string>>;

/** Rendered labels, cached while the counter keeps the labels object. */
function labelTexts(names: readonly string[], allowed: Allowed | undefined): (values: Labels) => string {
  if (names.length === 0) return () => '';
  // Where values are put together the labels are new in every reading.
  if (allowed !== undefined) return (values) => labelText(names, values);
  const texts = new WeakMap<Labels, string>();
  return (values) => {
    const known = texts.get(values);
    if (known !== undefined) return known;
    const text = labelText(names, values);
    texts.set(values, text);
    return text;
  };
}

interface MergeOptions<Value> {
  readonly labels: readonly string[];
  readonly allowed: Allowed;
  readonly sum: (left: Value, right: Value) => Value;
}

function merged<Value>(
  samples: Iterable<Sample<Value>>,
  { labels, allowed, sum }: MergeOptions<Value>,
): Iterable<Sample<Value>> {
  const all = new Map<string, Sample<Value>>();
  for (const [values, value] of samples) {
    const shown = constrained(values, allowed);
    const key = labelText(labels, shown);
    const known = all.get(key);
    all.set(key, [shown, known === undefined ? value : sum(known[1], value)]);
  }
  return all.values();
}

function constrained(values: Labels, allowed: Allowed): Labels {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      allowed.get(name)?.has(value) === false ? UNEXPECTED : value,
    ]),
  );
}

/** A metric is reported as deprecated from its release on, and hidden in the next one. */
function isPast(deprecated: string | undefined): boolean {
  return minorOf(deprecated) <= METRICS_RELEASE.minor;
}

function isHidden(deprecated: string | undefined): boolean {
  return minorOf(deprecated) < METRICS_RELEASE.minor;
}

function minorOf(release: string | undefined): number {
  return release === undefined ? Infinity : Number(release.split('.')[1]);
}
