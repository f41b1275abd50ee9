/** One request about one object, as its client saw it. Times are milliseconds of one monotonic clock. */
export interface ObjectOperation {
  /** `configmaps/chaos-0/o3`. */
  readonly key: string;
  readonly verb: ObjectVerb;
  /** Which replica was asked. */
  readonly replica: number;
  readonly invokedMs: number;
  /** Infinity if it is unknown when or whether it took effect. */
  readonly returnedMs: number;
  /** What a write puts into the object, different for each; empty for reads and deletions. */
  readonly turn: string;
  /** What a guarded update presumes the object to hold. */
  readonly expected?: ObjectState;
  readonly outcome: Outcome;
  /** The version that the answer gives: what was written, or what was read. */
  readonly version?: number;
  /** The turn that a get read; empty for an object that no client has written. */
  readonly seen?: string;
}

export interface ObjectState {
  readonly turn: string;
  readonly version: number;
}

export type ObjectVerb =
  | 'create'
  | 'update'
  | 'guarded update'
  | 'merge patch'
  | 'JSON patch'
  | 'strategic patch'
  | 'apply'
  | 'status'
  | 'delete'
  | 'deletecollection'
  | 'get';

/**
 * `absent` and `present`: refused for what is not there, or is (404, 409 AlreadyExists). `conflict`: 409. `refused`: nothing was done,
 * for a reason that says nothing about the object. `unknown`: the connection broke, no answer in time, 429 or 5xx.
 */
export type Outcome = 'done' | 'absent' | 'present' | 'conflict' | 'refused' | 'unknown';

/** A get that asked for a version not older than another. */
export interface AgedRead extends ObjectState {
  readonly key: string;
  readonly replica: number;
  readonly asked: number;
  readonly invokedMs: number;
}

/** What a list or a watch shows of one object. */
export interface ShownObject {
  /** `namespace/name`, or the name alone. */
  readonly key: string;
  readonly version: number;
  readonly turn: string;
}

/** One list, with all its pages. */
export interface ListOperation {
  readonly view: string;
  /** The replica of each page. */
  readonly replicas: readonly number[];
  readonly invokedMs: number;
  readonly returnedMs: number;
  /** What was asked of its version. */
  readonly asked:
    | { readonly kind: 'most recent' | 'any' }
    | { readonly kind: 'not older than' | 'exact'; readonly version: number };
  /** The version that each page states. */
  readonly versions: readonly number[];
  readonly objects: readonly ShownObject[];
}

export type AskedKind = 'most recent' | 'any' | 'not older than' | 'exact';

/** `410` is an ERROR event that says so. */
export type WatchEnd = '410' | 'broken' | 'closed' | 'error';

export type WatchedType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';

/** One connection of a watch. */
export interface WatchSegment {
  readonly watcher: string;
  readonly view: string;
  readonly replica: number;
  /** Exclusive; of a watch that begins with the state: the version of the bookmark that ends it. */
  readonly from: number;
  /** The initial events of a watch before its bookmark. */
  readonly initial?: readonly ShownObject[];
  readonly events: readonly SegmentEvent[];
  readonly end: WatchEnd;
}

export interface SegmentEvent extends ShownObject {
  readonly type: WatchedType;
}

export type LeaderNoteKind = 'elected' | 'write' | 'over';

/** One write of a leader of the election under test, and when it knew that it led. */
export interface LeaderNote {
  readonly candidate: string;
  readonly kind: LeaderNoteKind;
  /** For a write: before it looked whether it still leads. */
  readonly atMs: number;
}

/** Everything that clients saw while the store was one and the same. */
export interface RunRecord {
  readonly objects: ObjectOperation[];
  readonly ages: AgedRead[];
  readonly lists: ListOperation[];
  readonly watches: WatchSegment[];
  readonly leaders: LeaderNote[];
}

export function newRecord(): RunRecord {
  return { objects: [], ages: [], lists: [], watches: [], leaders: [] };
}
