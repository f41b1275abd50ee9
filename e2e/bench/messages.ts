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
  /** How many requests are under way at a time: over HTTP/1.1 each has a connection. */
  readonly connections: number;
  /** Present: the requests go over so many connections of HTTP/2. */
  readonly http2Connections?: number;
  readonly durationMs: number;
  /** The Accept header; JSON without it. */
  readonly accept?: string;
  /** Present: writes objects with names that begin with `prefix` instead of reading, `count` of them at most. */
  readonly write?: { readonly kind: WriteKind; readonly prefix: string; readonly count?: number };
}

/** Creates and deletes take a new object each time; all others change one of a fixed number of objects. */
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

/** How many objects the writes go over that change one. */
export const CHANGED_OBJECTS = 64;

export interface WatchLoad {
  readonly kind: 'watches';
  readonly target: Target;
  readonly path: string;
  readonly watchers: number;
  /** Present: the watches share so many connections of HTTP/2, and `events` is 0. */
  readonly http2Connections?: number;
  /** Events each watcher is to receive before the result is sent; 0: the watches stay open until a message comes. */
  readonly events: number;
}

/** Requests that are made all at once, each time the parent says so. */
export interface BurstLoad {
  readonly kind: 'burst';
  readonly target: Target;
  readonly path: string;
  readonly accept: string;
  readonly connections: number;
  /** How long each client reads nothing once the answer has begun. */
  readonly pauseMs: number;
}

export interface ProbeLoad {
  readonly kind: 'probe';
  readonly target: Target;
  /** What is asked for; default: the smallest answer there is. */
  readonly path?: string;
}

export interface EtcdLoad {
  readonly kind: 'etcd';
  readonly endpoint: string;
  readonly concurrency: number;
  readonly durationMs: number;
  readonly valueBytes: number;
}

/** One of the attacks, until the parent says that it is enough. */
export interface AttackLoad {
  readonly kind: 'attack';
  readonly name: string;
  /** With the token of the attacker. */
  readonly target: Target;
  /** A folder for its files. */
  readonly dir: string;
}

export type Load = RequestLoad | WatchLoad | BurstLoad | ProbeLoad | EtcdLoad | AttackLoad;

/** How often each code was answered; 0 for a broken connection. */
export type AnsweredCodes = readonly (readonly [code: number, times: number])[];

export interface AttackResult {
  readonly codes: AnsweredCodes;
}

export interface RequestResult {
  readonly operations: number;
  /** Those before the clock began included. */
  readonly begun: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface WatchResult {
  /** Of event e at watcher w of this process: at `e * watchers + w`; monotonic milliseconds, comparable between processes of one machine. 0: it never came. */
  readonly arrivals: Float64Array;
  /** What one watcher decoded, in order. */
  readonly versions: readonly string[];
  /** Watches that the server ended. */
  readonly ended: number;
  /** Frames that came after the last that was expected. */
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
  /** How many were answered with an error. */
  readonly failed: number;
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
