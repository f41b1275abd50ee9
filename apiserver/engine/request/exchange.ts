import type { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { StatusError } from '../../../shared/errors/status-error';
import type { AuditTrail } from './audit-trail';
import type { LoopBounds } from './loop-bounds';
import type { AccessCondition } from './access-condition';
import type { RequestInfo } from './request-info';

/** The user of a request. Authentication does not interpret the strings; authorizers do. */
export interface UserInfo {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/**
 * The certificate of a client and the chain that it sent along; not empty and not yet verified. It is the same array
 * for all requests of a connection.
 */
export type PeerCertificates = readonly X509Certificate[];

/** The receiver may keep smaller pieces. */
export const LENT_BYTES_MIN = 64 * 1024;

/**
 * The response of a request, as data; only the answer writer sends it. A `Buffer` body is sent with a Content-Length.
 * An iterable is streamed with backpressure: the next piece is requested only after the client took the last one, and
 * `return` is called when the client disconnects. A piece of {@link LENT_BYTES_MIN} or more is lent: its memory is
 * reused after the next piece is requested.
 */
export interface Answer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer | AsyncIterable<Buffer>;
  /** The framing of a stream, for WebSockets. Absent: the answer is never sent over one. */
  readonly messages?: MessageFraming;
  /** The upstream connection of an upgraded request; it is piped to the client after the headers. The body is empty. */
  readonly tunnel?: Tunnel;
}

/** The upstream side of an upgraded connection. The receiver closes it. */
export interface Tunnel {
  readonly socket: Duplex;
  /** Bytes received after the headers. */
  readonly head: Buffer;
}

/** Lines of text, or binary messages, each after its length in four bytes. */
export type MessageFraming = 'lines' | 'length-prefixed';

/** The uids of the FlowSchema and priority level of a request. They are sent to the client. */
export interface FlowMark {
  readonly schemaUid: string;
  readonly levelUid: string;
}

/** Counts the bytes that a watch delivers; one call per delivery. */
export interface DeliveryCount {
  add(bytes: number): void;
}

/**
 * The context of one request in the pipeline (`apiserver/engine/pipeline.ts`). A listener creates it; each stage sets
 * its own field and reads those set earlier. It is independent of HTTP versions and of Express.
 */
export interface Exchange {
  readonly id: string;
  readonly method: string;
  /** The path without the query, percent-encoded where it has to be ({@link plainPath}). */
  readonly path: string;
  /** Path and query as received, if they begin with a slash. Absent: `path` and `search`. */
  readonly uri?: string;
  readonly query: URLSearchParams;
  /** The query as received, without the question mark. */
  readonly search?: string;
  /** Lower-cased names; repeated headers are joined. Use `header-values` for headers that may be repeated. */
  headers: IncomingHttpHeaders;
  /** Names and values alternate, as received. */
  rawHeaders: readonly string[];
  readonly remoteAddress: string;
  /** Undefined if the client sent no certificate, or none was requested. */
  readonly peer?: PeerCertificates | undefined;
  /** True when the listener can hand over the socket (WebSocket, SPDY). */
  readonly upgrade: boolean;
  /** Milliseconds since the epoch when the headers were complete. */
  readonly receivedAt: number;
  /**
   * Aborts when the client disconnects, the deadline passes or the server closes. Every wait uses it. `linkedAbort`
   * combines it with other signals.
   */
  readonly signal: AbortSignal;
  /** Aborts `signal` and destroys an answer that is being sent. The first reason is kept. */
  abort(reason: Error): void;
  /**
   * Calls back once, when the answer is sent or the client has disconnected; at once if that has happened. The
   * listener must not throw.
   */
  whenOver(listener: () => void): void;
  /** Reads the whole body once; rejects with 413 over the limit, without having buffered more than it. */
  readBody(): Promise<Buffer>;
  /**
   * Counts unread bytes of the body for `user` from now on; the exchange is aborted with 429 at the memory limit.
   * Absent: there are none.
   */
  countUnread?(): void;
  /** The body as a stream of any size, instead of `readBody`. Undefined for a request without one. */
  bodyStream(): Readable | undefined;

  /** Set by `request info`. */
  info: RequestInfo;
  /** Set by `authentication`. */
  user: UserInfo;
  /** The conditions on which a long-running request was allowed; absent for others. See `addAccessCondition`. */
  grounds?: readonly AccessCondition[];
  /** Texts for `Warning` headers; the error handler writes them. */
  readonly warnings: string[];
  /** Set by `audit` for an audited request. */
  audit?: AuditTrail | undefined;
  /** Set by `flow control` and sent to the client; absent for exempt requests. */
  flow?: FlowMark | undefined;
  /** Set by `flow control` for a watch whose deliveries are charged to its flow. */
  delivered?: DeliveryCount | undefined;
  /** False: large answers are never compressed. Absent: they are if the client accepts gzip. */
  isCompressible?: boolean;
  /** Objects and lists have `metadata.selfLink`. */
  showsLinks?: true;
  /** Limits of a request on the event loop; absent in workers, where there are none. */
  bounds?: LoopBounds | undefined;
  /** Set by the verb, or by the error handler from the error it caught. */
  answer: Answer | undefined;
  /** The error of a failed request, for log and metrics. */
  error?: StatusError;
}

/** A stage sets its own field, then calls `next`, or throws a StatusError. It never writes a response. */
export type Stage = (exchange: Exchange, next: () => Promise<void>) => Promise<void>;
