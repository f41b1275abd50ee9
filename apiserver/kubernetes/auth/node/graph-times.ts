import { performance } from 'node:perf_hooks';
import { exponentialBounds } from '../../../../shared/metrics/buckets';
import { DurationHistogram } from '../../../../shared/metrics/duration-histogram';

/** Changes of the node authorizer's graph, by kube-apiserver's names. */
const ACTIONS = [
  'AddPod',
  'DeletePod',
  'AddPV',
  'DeletePV',
  'AddVolumeAttachment',
  'DeleteVolumeAttachment',
  'SetNodeConfigMap',
] as const;
export type GraphAction = (typeof ACTIONS)[number];

/** The buckets of kube-apiserver, from 0.1 ms to 200 ms. */
const BOUNDS_SECONDS = exponentialBounds(0.0001, 2, 12);

/** How long changes of the node authorizer's graph take, for metrics. */
export class GraphTimes {
  readonly #times = new Map(ACTIONS.map((action) => [action, new DurationHistogram(BOUNDS_SECONDS)]));

  /** Records an action that began at `startedAt` of `performance.now()` and ends now. */
  observe(action: GraphAction, startedAt: number): void {
    this.#times.get(action)?.observe(performance.now() - startedAt);
  }

  /** Yields the actions that were recorded. */
  *read(): IterableIterator<readonly [GraphAction, DurationHistogram]> {
    for (const row of this.#times) if (row[1].count > 0) yield row;
  }
}
