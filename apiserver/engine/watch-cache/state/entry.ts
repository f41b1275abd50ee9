/**
 * One object in the cache. `bytes` is its JSON from `"metadata":{"resourceVersion":"<n>",…` to the closing brace of the object. The reader
 * adds the head: `{` for an item of a typed list, `{"kind":"Pod","apiVersion":"v1",` for GET and watch events. The bytes must not be modified.
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

/** The event types with an object. */
export type ObjectEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * The encoding of one kind for one media type and version. The encoding layer creates it; the watch cache shares its frames among all
 * watchers with the same `id`.
 */
export interface Representation {
  /** Equal ids mean equal bytes for equal input. */
  readonly id: string;
  /** Whether frames contain the age of objects (tables). Such a frame is shared by live watchers only, and not cached for later ones. */
  readonly tellsAge?: boolean;
  /** One complete watch frame for one object. */
  frame(type: ObjectEventType, entry: Entry): Buffer;
  /** A BOOKMARK frame with this resourceVersion; `initialEventsEnd` adds the annotation of streaming lists. */
  bookmark(revision: number, initialEventsEnd: boolean): Buffer;
  /** An ERROR frame that carries a Status. */
  error(status: object): Buffer;
}

/** Encodes a frame in a worker; undefined for a frame that is small enough for the event loop. Rejects when no worker can encode it. */
export type FrameWorker = (type: ObjectEventType, entry: Entry) => Promise<Buffer> | undefined;

/** One stored resource, as the registry describes it to the cache. */
export interface CachedResource {
  /** `pods`, `deployments.apps`: for logs, metrics and messages. */
  readonly name: string;
  /** Below the store prefix, with a trailing slash: `core/pods/`. */
  readonly keyPrefix: string;
  readonly namespaced: boolean;
  /** Selectable fields beyond metadata.name and metadata.namespace, as paths into the object: `spec.nodeName`. */
  readonly fieldPaths: readonly string[];
  /** The paths of selectable fields whose name is not their path; the first path with a value counts. */
  readonly fieldSources?: Readonly<Record<string, readonly string[]>>;
  /** Those of `fieldPaths` that are selective enough for an index: `spec.nodeName`. */
  readonly indexedFields: readonly string[];
  /** Converts a stored value that a server at another API level wrote in another version; absent if all versions have the same fields. */
  readonly toHubForm?: (plain: Buffer) => Buffer;
}

/** Returns the stored value in the version in which this server stores objects of the resource. Throws if it is no object. */
export function inHubForm({ toHubForm }: Pick<CachedResource, 'toHubForm'>, plain: Buffer): Buffer {
  return toHubForm === undefined ? plain : toHubForm(plain);
}
