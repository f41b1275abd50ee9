/** The messages between the benchmark and its child processes. */

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
  /** Concurrent requests; over HTTP/1.1 each has a connection. */
  readonly connections: number;
  /** The number of HTTP/2 connections; absent: HTTP/1.1. */
  readonly http2Connections?: number;
  readonly durationMs: number;
  /** The Accept header; by default JSON. */
  readonly accept?: string;
  /** If present, at most `count` objects with the name prefix `prefix` are written instead of read. */
  readonly write?: { readonly kind: WriteKind; readonly prefix: string; readonly count?: number };
}

/** Creates and deletes use a new object each time; other writes change one of a fixed number of objects. */
export type WriteKind =
  | 'create'
  | 'createPod'
  | 'createSecret'
  | 'dryRunPod'
  | 'applyDeployment'
  | 'updateDeployment'
  | 'update'
  | 'updateSecret'
  | 'patch'
  | 'patchPodStatus'
  | 'apply'
  | 'delete';

/** The number of objects that changing writes use. */
export const CHANGED_OBJECTS = 64;

export interface WatchLoad {
  readonly kind: 'watches';
  readonly target: Target;
  readonly path: string;
  readonly watchers: number;
  /** The number of HTTP/2 connections that the watches share; `events` is 0 then. */
  readonly http2Connections?: number;
  /** Events that each watcher receives before the result is sent; 0: the watches stay open until a message. */
  readonly events: number;
}

/** Requests that are sent at once at each message of the parent. */
export interface BurstLoad {
  readonly kind: 'burst';
  readonly target: Target;
  readonly path: string;
  readonly accept: string;
  readonly connections: number;
  /** The time in which each client does not read after the answer has begun. */
  readonly pauseMs: number;
}

export interface ProbeLoad {
  readonly kind: 'probe';
  readonly target: Target;
  /** The requested path; by default the smallest answer. */
  readonly path?: string;
}

export interface EtcdLoad {
  readonly kind: 'etcd';
  readonly endpoint: string;
  readonly concurrency: number;
  readonly durationMs: number;
  readonly valueBytes: number;
}

/** One of the attacks, until a message of the parent. */
export interface AttackLoad {
  readonly kind: 'attack';
  readonly name: string;
  /** With the token of the attacker. */
  readonly target: Target;
  /** A folder for its files. */
  readonly dir: string;
}

export type Load = RequestLoad | WatchLoad | BurstLoad | ProbeLoad | EtcdLoad | AttackLoad;

/** The number of answers by code; 0 is a broken connection. */
export type AnsweredCodes = readonly (readonly [code: number, times: number])[];

export interface AttackResult {
  readonly codes: AnsweredCodes;
}

export interface RequestResult {
  readonly operations: number;
  /** Including those before the measured time. */
  readonly begun: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface WatchResult {
  /** The arrival of event e at watcher w is at `e * watchers + w`, in monotonic milliseconds of the machine. 0: it never arrived. */
  readonly arrivals: Float64Array;
  /** The events that one watcher decoded, in order. */
  readonly versions: readonly string[];
  /** Watches that the server ended. */
  readonly ended: number;
  /** Frames after the last expected one. */
  readonly beyond: number;
}

export interface BurstResult {
  readonly bytes: number;
  /** Until the last answer was complete. */
  readonly tookMs: number;
}

export interface ProbeResult {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The number of errors. */
  readonly failed: number;
}

/** Milliseconds of the machine's monotonic clock. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The quantile of the numbers. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
