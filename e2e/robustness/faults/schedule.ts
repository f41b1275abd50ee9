import type { Random } from '../../list-watch/chaos/seeded-random';

/** The kinds of faults. `perform.ts` injects and repairs them. */
export const FAULT_KINDS = [
  'kill -9 of a replica',
  'kill -9 of two replicas',
  'a frozen replica',
  'kill -9 of an etcd member',
  'kill -9 of the etcd leader',
  'a frozen etcd member',
  'a frozen etcd leader',
  'kill -9 of all of etcd',
  'a new etcd leader',
  'compaction',
  'defragmentation',
  'kill -9 of a controller-manager',
  'a frozen controller-manager',
  'kill -9 of a candidate',
  'a frozen candidate',
  'a cut link',
  'a silent link',
  'a slow link',
  'links cut off a replica',
  'a wall clock set',
  'restart of everything',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** One random fault. `target`, modulo the number of candidates, selects the affected part. */
export interface Fault {
  readonly kind: FaultKind;
  readonly target: number;
  /** Its duration, for faults that have one. */
  readonly durationMs: number;
  /** Quiet time after it. */
  readonly pauseMs: number;
  /** Its strength in [0, 1), interpreted by the kind: how slow, how far. */
  readonly degree: number;
}

const WEIGHTS: Readonly<Record<FaultKind, number>> = {
  'kill -9 of a replica': 5,
  'kill -9 of two replicas': 2,
  'a frozen replica': 4,
  'kill -9 of an etcd member': 3,
  'kill -9 of the etcd leader': 2,
  'a frozen etcd member': 2,
  'a frozen etcd leader': 2,
  'kill -9 of all of etcd': 1,
  'a new etcd leader': 2,
  compaction: 4,
  defragmentation: 2,
  'kill -9 of a controller-manager': 2,
  'a frozen controller-manager': 1,
  'kill -9 of a candidate': 2,
  'a frozen candidate': 3,
  'a cut link': 6,
  'a silent link': 5,
  'a slow link': 5,
  'links cut off a replica': 2,
  'a wall clock set': 3,
  'restart of everything': 1,
};

export interface FaultLimits {
  readonly durationMsMax: number;
  readonly pauseMsMax: number;
}

const DURATION_MS_MIN = 200;

/** The endless sequence of faults of a run: each kind once in random order, then by weight. */
export function createFaults(random: Random, { durationMsMax, pauseMsMax }: FaultLimits): () => Fault {
  const first = FAULT_KINDS.map((kind) => [random.next(), kind] as const)
    .sort(([a], [b]) => a - b)
    .map(([, kind]) => kind);
  const rows = FAULT_KINDS.map((kind) => [WEIGHTS[kind], kind] as const);
  let count = 0;
  return () => {
    const kind = first[count++] ?? random.weighted(rows);
    return {
      kind,
      target: random.below(1_000_000),
      durationMs: DURATION_MS_MIN + random.below(durationMsMax - DURATION_MS_MIN),
      pauseMs: random.below(pauseMsMax),
      degree: random.next(),
    };
  };
}
