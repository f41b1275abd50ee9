import { DurationHistogram } from '../../../shared/metrics/duration-histogram';
import type { Refusal } from './queue-set';

/** The buckets of kube-apiserver, in seconds and in requests. */
const DURATION_BOUNDS: readonly number[] = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];
const LENGTH_BOUNDS: readonly number[] = [0, 10, 25, 50, 100, 250, 500, 1000];
const MS_PER_SECOND = 1_000;

/** Counters of the requests of one schema at one level. */
export class FlowCounts {
  readonly schema: string;
  readonly level: string;
  dispatched = 0;
  executing = 0;
  waiting = 0;
  readonly refused = new Map<Refusal, number>();
  readonly executions = new DurationHistogram(DURATION_BOUNDS);
  /** Waiting times of requests that were executed, and of those that were refused. */
  readonly waits = {
    executed: new DurationHistogram(DURATION_BOUNDS),
    refused: new DurationHistogram(DURATION_BOUNDS),
  };
  /** In requests instead of seconds. */
  readonly queueLengths = new DurationHistogram(LENGTH_BOUNDS);

  constructor(schema: string, level: string) {
    this.schema = schema;
    this.level = level;
  }

  get isIdle(): boolean {
    return this.executing === 0 && this.waiting === 0;
  }

  noteRefused(refusal: Refusal): void {
    this.refused.set(refusal, (this.refused.get(refusal) ?? 0) + 1);
  }

  noteQueueLength(requests: number): void {
    this.queueLengths.observe(requests * MS_PER_SECOND);
  }
}
