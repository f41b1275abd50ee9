import type { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { StatusError } from '../../../shared/errors/status-error';
import type { AuditTrail } from './audit-trail';
import type { LoopBounds } from './loop-bounds';
import type { AccessCondition } from './access-condition';
import type { RequestInfo } from './request-info';

/** Who is asking. The strings are opaque to authentication and meaningful to authorizers. */
export interface UserInfo {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/**
 * The certificate that a client showed on its connection, and behind it what it sent along; not empty. Nobody has looked at them yet.
 * It is the same array for all requests of a connection.
 */
export type PeerCertificates = readonly X509Certificate[];

/** Smaller pieces may be kept. */
export const LENT_BYTES_MIN = 64 * 1024;

/**
 * What goes back to the client, as data: only a listener writes it. A `Buffer` body is sent with a Content-Length; an iterable is
 * streamed in the pieces it yields, is asked for the next piece only after the client took the last one, and is closed (its
 * `return` called) when the client leaves. A piece of {@link LENT_BYTES_MIN} or more is lent: its memory is used again once the next
 * one is asked for.
 */
export interface Answer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer | AsyncIterable<Buffer>;
  /** How a stream falls into messages, for a connection that carries messages. Absent: it is never sent over one. */
  readonly messages?: MessageFraming;
  /** Behind the head, which says that the connection is upgraded, the client's is joined with this one. The body is empty. */
  readonly tunnel?: Tunnel;
}

/** The other end of a connection that was upgraded. Whoever gets it ends it. */
export interface Tunnel {
  readonly socket: Duplex;
  /** What came from there behind the head of its answer. */
  readonly head: Buffer;
}

/** Lines of text, or binary pieces with their length in four bytes before each. */
export type MessageFraming = 'lines' | 'length-prefixed';

/** Which flow schema and which priority level a request belongs to: their uids, which its client may know. */
export interface FlowMark {
  readonly schemaUid: string;
  readonly levelUid: string;
}

/** Told how many bytes a watch hands to its client, a call for each delivery. */
export interface DeliveryCount {
  add(bytes: number): void;
}

/**
 * One request on its way through the pipeline (`apiserver/engine/pipeline.ts`). A listener builds it; each stage sets the field that is its own
 * and reads those set before it. Nothing here knows HTTP/1, HTTP/2 or Express.
 */
export interface Exchange {
  readonly id: string;
  readonly method: string;
  /** The path without the query, percent-encoded where it has to be ({@link plainPath}). */
  readonly path: string;
  /** Path and query as they were received, where they begin with a slash. Absent: as `path` and `search` say. */
  readonly uri?: string;
  readonly query: URLSearchParams;
  /** The query as received, without the question mark. */
  readonly search?: string;
  /** Lower-cased; what was sent several times is joined. For headers that may be repeated see `header-values`. */
  headers: IncomingHttpHeaders;
  /** Names and values in turns, as they were received. */
  rawHeaders: readonly string[];
  readonly remoteAddress: string;
  /** Undefined for a client that showed no certificate, or was not asked for one. */
  readonly peer?: PeerCertificates | undefined;
  /** True when the listener can hand over the socket (WebSocket, SPDY). */
  readonly upgrade: boolean;
  /** Milliseconds since the epoch at which the request's head was complete. */
  readonly receivedAt: number;
  /**
   * Aborts when the client is gone, the deadline has passed or the server closes. Everything that waits takes it. To join it with others
   * there is `linkedAbort`.
   */
  readonly signal: AbortSignal;
  /** Gives the exchange up: aborts `signal`, and cuts an answer that the client does not take. The first reason counts. */
  abort(reason: Error): void;
  /** Calls back once, when the answer is out or its client gone; at once if that is so already. The listener must not throw. */
  whenOver(listener: () => void): void;
  /** Reads the whole body once; rejects with 413 over the limit, without having buffered more than it. */
  readBody(): Promise<Buffer>;
  /**
   * From here on what comes of the body before it is read counts for `user`: the exchange is given up with 429 when there is no room for it.
   * Absent: nothing comes.
   */
  countUnread?(): void;
  /** The body as it arrives, whatever its size, instead of `readBody`. Undefined for a request without one. */
  bodyStream(): Readable | undefined;

  /** Set by `request info`. */
  info: RequestInfo;
  /** Set by `authentication`. */
  user: UserInfo;
  /** What a request that stays open was let in on, by the stages that let it; absent for other requests. See `addGround`. */
  grounds?: readonly AccessCondition[];
  /** Texts for `Warning` headers; the error handler writes them. */
  readonly warnings: string[];
  /** Set by `audit` for a request that is audited: what is known of it goes there. */
  audit?: AuditTrail | undefined;
  /** Set by `flow control`, and told to the client with the answer; absent for requests that it does not look at. */
  flow?: FlowMark | undefined;
  /** Set by `flow control` for a watch that pays for what it delivers. */
  delivered?: DeliveryCount | undefined;
  /** False where large answers are not compressed, whatever the client accepts. Absent: they are. */
  isCompressible?: boolean;
  /** Objects and lists are answered with `metadata.selfLink`. */
  showsLinks?: true;
  /** How large the request may be to be carried out in this thread; absent: as large as it is. */
  bounds?: LoopBounds | undefined;
  /** Set by the verb, or by the error handler from the error it caught. */
  answer: Answer | undefined;
  /** The error behind a failed answer, for log and metrics. */
  error?: StatusError;
}

/** A stage sets its own field, then calls `next`, or throws a StatusError. It never writes a response. */
export type Stage = (exchange: Exchange, next: () => Promise<void>) => Promise<void>;
