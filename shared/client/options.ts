import type { Log } from '../log/log';
import type { ApiObject, ListMeta } from '../object/object';
import type { ExecPlugin } from './exec-plugin';
import type { TlsFiles } from './tls-files';
import type { Transport, TransportOptions } from './transport';

/** The files, if any, replace `ca`, `cert` and `key`. When their content changes, new connections are made, as in client-go. */
export interface ClientOptions extends TransportOptions, TlsFiles {
  readonly token?: string;
  /** A file whose content is the token; read again at most every minute, because issuers rotate it. */
  readonly tokenFile?: string;
  /** Provides the token of each request; replaces the other two. */
  readonly tokenSource?: TokenSource;
  /** Provides the credentials of each request, a client certificate included; replaces all others. */
  readonly exec?: ExecPlugin;
  /** Makes the transport; absent: HTTP over sockets. */
  readonly transport?: (options: TransportOptions) => Transport;
  readonly userAgent?: string;
  /** Reports reloaded files. */
  readonly log?: Log;
  /** Time limit of one call, in milliseconds; 30,000 if absent. For a watch: until its headers arrive. */
  readonly timeoutMs?: number;
  /** Called for each sent request, for metrics; the code is 0 without a response. */
  readonly observe?: (method: string, code: number, ms: number) => void;
  /** Shared by all clients of one server, so that one of many informers reports that it cannot be reached. */
  readonly outage?: Outage;
}

/** Whether it has been reported that a server cannot be reached. */
export interface Outage {
  isReported: boolean;
}

/** A bearer token that changes over time. */
export interface TokenSource {
  token(signal: AbortSignal | undefined): Promise<string>;
  /** Notifies that the server refused this token: the next one should differ. */
  refused(token: string): void;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Overrides the client's, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** The name of one object; the namespace is left out for cluster-scoped resources. */
export interface ObjectRef {
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface GetOptions extends CallOptions {
  readonly subresource?: string;
  readonly resourceVersion?: string;
  /** The Accept header; plain JSON if not given. */
  readonly accept?: string;
}

export interface Selection {
  /** All namespaces if not given. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends CallOptions, Selection {
  /** How many objects a page may have. */
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
  readonly accept?: string | undefined;
}

export interface WatchOptions extends CallOptions, Selection {
  /** Events after this version; absent: the current state as ADDED events first. */
  readonly resourceVersion?: string | undefined;
  /** When the server should end the watch; 300 if absent. */
  readonly timeoutSeconds?: number | undefined;
  readonly allowWatchBookmarks?: boolean | undefined;
  readonly accept?: string | undefined;
  /** Called once the server has accepted the watch, before the first event. */
  readonly onOpen?: (() => void) | undefined;
}

export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
}

export interface ObjectWriteOptions extends WriteOptions {
  /** `status`, `finalize`, `scale`, `eviction`, … */
  readonly subresource?: string;
}

/** The body of a patch and its type. */
export interface Patch {
  /** One of MEDIA_TYPE's patch types. */
  readonly contentType: string;
  /** A value sent as JSON, or text sent unchanged (YAML of an apply patch). */
  readonly body: unknown;
  /** Apply patches only: take over fields other managers own. */
  readonly force?: boolean;
}

/** meta/v1 DeleteOptions; the envelope is added by the client. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** A list of objects, and the version of which it is complete. */
export interface ApiList<T extends ApiObject = ApiObject> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ListMeta;
  readonly items: readonly T[];
}

export const WATCH_EVENT_TYPES = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'] as const;
export type WatchEventType = (typeof WATCH_EVENT_TYPES)[number];

/** One event of a watch. */
export interface WatchEvent<T extends ApiObject = ApiObject> {
  readonly type: WatchEventType;
  /** A BOOKMARK's object carries only a resourceVersion. */
  readonly object: T;
}

export interface RawRequest extends CallOptions {
  readonly method: string;
  /** With query. */
  readonly path: string;
  readonly body?: string | Buffer;
  readonly contentType?: string;
  readonly accept?: string;
}

export interface RawAnswer {
  /** The HTTP status code. */
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}
