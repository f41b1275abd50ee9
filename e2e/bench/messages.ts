/** What the benchmark's own processes say to each other over Node's channel between parent and child. */

export interface Target {
  /** `https://127.0.0.1:6443` */
  readonly server: string;
  readonly caFile: string;
  readonly token: string;
}

export interface RequestLoad {
  readonly kind: 'requests';
  readonly target: Target;
  readonly path: string;
  readonly connections: number;
  readonly durationMs: number;
  /** The Accept header; JSON without it. */
  readonly accept?: string;
  /** Present: writes configmaps with names that begin with `prefix` instead of reading. */
  readonly write?: { readonly kind: WriteKind; readonly prefix: string };
}

/** `patch` and `apply` change one of a fixed number of configmaps each time. */
export type WriteKind = 'create' | 'patch' | 'apply';

/** How many configmaps patches and applies go over. */
export const PATCHED_OBJECTS = 64;

export interface WatchLoad {
  readonly kind: 'watches';
  readonly target: Target;
  readonly path: string;
  readonly watchers: number;
  /** Events each watcher is to receive before the result is sent. */
  readonly events: number;
}

export interface EtcdLoad {
  readonly kind: 'etcd';
  readonly endpoint: string;
  readonly concurrency: number;
  readonly durationMs: number;
  readonly valueBytes: number;
}

export type Load = RequestLoad | WatchLoad | EtcdLoad;

export interface RequestResult {
  readonly operations: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** `arrivals[event][watcher]`: monotonic milliseconds, comparable between processes of one machine. */
export interface WatchResult {
  readonly arrivals: readonly (readonly number[])[];
}

/** Milliseconds of the machine's monotonic clock. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The value below which this share of the numbers lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
