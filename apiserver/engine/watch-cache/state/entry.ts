/**
 * One object as the cache holds it: bytes first. `bytes` is the object's JSON from `"metadata":{"resourceVersion":"<n>",…` to the
 * closing brace of the object, so that what comes before can be chosen by the reader: `{` for an item of a typed list,
 * `{"kind":"Pod","apiVersion":"v1",` for GET and for watch events. Nobody may change the bytes.
 */
export interface Entry {
  /** The key relative to the resource's prefix: `<namespace>/<name>`, or `<name>` for cluster scope. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** The revision of the object's last write; for the final state in a DELETED event, the deletion's. */
  readonly revision: number;
  /** Replaced only by the slab that owns the bytes, when it moves them. */
  bytes: Buffer;
  readonly labels: Readonly<Record<string, string>>;
  /** The values of the kind's selectable fields, `metadata.name` and `metadata.namespace` included. */
  readonly fields: Readonly<Record<string, string>>;
  /** `metadata.uid`. */
  readonly uid: string;
}

export const WATCH_EVENT_TYPES = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] as const;
export type WatchEventType = (typeof WATCH_EVENT_TYPES)[number];

/** What an event says of an object. */
export type ObjectEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * How one kind is written for one media type and version. Made by the encoding layer; the watch layer keeps what it returns and
 * shares it among all readers with the same `id`.
 */
export interface Representation {
  /** Equal ids mean equal bytes for equal input. */
  readonly id: string;
  /** True when frames also tell how old objects are: one is then shared by those who get it at the same time, and not kept for others. */
  readonly tellsAge?: boolean;
  /** One complete watch frame for one object. */
  frame(type: ObjectEventType, entry: Entry): Buffer;
  /** A BOOKMARK frame with this resourceVersion; `initialEventsEnd` adds the annotation of streaming lists. */
  bookmark(revision: number, initialEventsEnd: boolean): Buffer;
  /** An ERROR frame that carries a Status. */
  error(status: object): Buffer;
}

/** Has a frame made by somebody else; undefined for one that is to be made here. Rejects when nobody can make it. */
export type FrameElsewhere = (type: ObjectEventType, entry: Entry) => Promise<Buffer> | undefined;

/** What the cache must know of one stored resource. Supplied by the registry, one per stored resource. */
export interface CachedResource {
  /** `pods`, `deployments.apps`: for logs, metrics and messages. */
  readonly name: string;
  /** Below the store prefix, with a trailing slash: `core/pods/`. */
  readonly keyPrefix: string;
  readonly namespaced: boolean;
  /** Selectable fields beyond metadata.name and metadata.namespace, as paths into the object: `spec.nodeName`. */
  readonly fieldPaths: readonly string[];
  /** Selectable fields that stand elsewhere in the object than their names say: the first of these paths that holds a value. */
  readonly fieldSources?: Readonly<Record<string, readonly string[]>>;
  /** Field paths of `fieldPaths` that single out objects and deserve an index: `spec.nodeName`. */
  readonly indexedFields: readonly string[];
}
