import { performance } from 'node:perf_hooks';
import { exponentialBounds } from '../../../../shared/metrics/buckets';
import { DurationHistogram } from '../../../../shared/metrics/duration-histogram';

/** Changes of the graph of nodes, as kube-apiserver calls them. */
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

/** Those of kube-apiserver: from 0.1 ms to 200 ms. */
const BOUNDS_SECONDS = exponentialBounds(0.0001, 2, 12);

const times = new Map(ACTIONS.map((action) => [action, new DurationHistogram(BOUNDS_SECONDS)]));

/** Says that the action is over, which began at `startedAt` of `performance`. */
export function noteGraphAction(action: GraphAction, startedAt: number): void {
  times.get(action)?.observe(performance.now() - startedAt);
}

/** Those of this process that there were. */
export function* graphTimes(): IterableIterator<readonly [GraphAction, DurationHistogram]> {
  for (const row of times) if (row[1].count > 0) yield row;
}
