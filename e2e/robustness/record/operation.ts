/** One request for one object as seen by its client. Times are milliseconds of one monotonic clock. */
export interface ObjectOperation {
  /** `configmaps/chaos-0/o3`. */
  readonly key: string;
  readonly verb: ObjectVerb;
  /** The index of the replica. */
  readonly replica: number;
  readonly invokedMs: number;
  /** Infinity if the time or the effect is unknown. */
  readonly returnedMs: number;
  /** The unique content of a write; empty for reads and deletions. */
  readonly turn: string;
  /** The content that a conditional update expects. */
  readonly expected?: ObjectState;
  readonly outcome: Outcome;
  /** The version in the answer, of the written or read object. */
  readonly version?: number;
  /** The turn that a get returned; empty for an object that no client has written. */
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
 * `absent` and `present`: 404, and 409 AlreadyExists. `conflict`: 409 Conflict. `refused`: no effect, for a reason that does not depend
 * on the object. `unknown`: the connection broke, a timeout, 429 or 5xx.
 */
export type Outcome = 'done' | 'absent' | 'present' | 'conflict' | 'refused' | 'unknown';

/** A get with a minimum version. */
export interface AgedRead extends ObjectState {
  readonly key: string;
  readonly replica: number;
  readonly asked: number;
  readonly invokedMs: number;
}

/** The recorded part of a listed or watched object. */
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
  /** The requested version and how it must match. */
  readonly asked:
    | { readonly kind: 'most recent' | 'any' }
    | { readonly kind: 'not older than' | 'exact'; readonly version: number };
  /** The version of each page. */
  readonly versions: readonly number[];
  readonly objects: readonly ShownObject[];
}

export type AskedKind = 'most recent' | 'any' | 'not older than' | 'exact';

/** `410` is an ERROR event with that code. */
export type WatchEnd = '410' | 'broken' | 'closed' | 'error';

export type WatchedType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';

/** One connection of a watch. */
export interface WatchSegment {
  readonly watcher: string;
  readonly view: string;
  readonly replica: number;
  /** Exclusive. For a watch with initial state it is the version of the bookmark that ends the state. */
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

/** One write of an elected leader, and the time at which it knew that it led. */
export interface LeaderNote {
  readonly candidate: string;
  readonly kind: LeaderNoteKind;
  /** For a write: the time before the check of the leadership. */
  readonly atMs: number;
}

/** Everything that clients received between two replacements of the store. */
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
