import type { IncomingHttpHeaders } from 'node:http';
import type { MessagePort } from 'node:worker_threads';
import type { Status } from '../../../shared/errors/status-error';
import type { ShortStatus } from '../request/answered-error';
import type { ObjectIdentity, WantedObjects } from '../request/audit-trail';
import type { UserInfo } from '../request/exchange';
import type { ElementRequest } from '../handlers/element-encoder';

/**
 * The messages between the event loop of the server and the worker for offloaded requests. Each request has its own
 * number.
 */

/** The counters of a worker since its last report. Only the composition, which creates both ends, knows its type. */
export type WorkerCounts = object;

/** An authenticated and authorized request, as data. */
export interface OffloadedRequest {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly uri: string;
  /** The query as received, without the question mark. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly remoteAddress: string;
  readonly receivedAt: number;
  readonly user: UserInfo;
  /** Empty without a body. */
  readonly body: Uint8Array;
  /** The objects that its audit event needs; undefined if it is not audited. */
  readonly audited: WantedObjects | undefined;
}

export type ToThread =
  | { readonly kind: 'request'; readonly number: number; readonly request: OffloadedRequest }
  /** Encode an element of a list, or a watch frame. */
  | { readonly kind: 'element'; readonly number: number; readonly request: ElementRequest }
  /** The client has disconnected or the request was aborted. `status` is the answer of the client, if any. */
  | { readonly kind: 'abort'; readonly number: number; readonly status: Status | undefined }
  /** The next piece of a streamed answer. */
  | { readonly kind: 'next'; readonly number: number };

/** A call of the audit trail, in order. */
export type AuditNote =
  | {
      readonly kind: 'annotation';
      readonly key: string;
      readonly value: string;
      readonly from: 'Request' | undefined;
    }
  | {
      readonly kind: 'request';
      readonly identity: ObjectIdentity | undefined;
      /** Undefined if audit does not need it. */
      readonly json: Uint8Array | undefined;
    }
  | { readonly kind: 'response'; readonly json: Uint8Array }
  | { readonly kind: 'status'; readonly status: Pick<Status, 'status' | 'reason'> };

/** Warnings and audit notes of a request. */
export interface Remarks {
  readonly warnings: readonly string[];
  readonly notes: readonly AuditNote[];
}

/** An error; with an encoded answer if the Status is too large for the event loop. */
export type Refusal =
  | { readonly status: Status }
  | {
      readonly short: ShortStatus;
      readonly headers: Readonly<Record<string, string | readonly string[]>>;
      readonly body: Uint8Array;
    };

export type FromThread =
  /** The worker has started. */
  | { readonly kind: 'ready' }
  /** Counters of plugins and webhooks. */
  | { readonly kind: 'measured'; readonly measured: WorkerCounts }
  /** The request has started. */
  | { readonly kind: 'begun'; readonly number: number }
  | (Remarks & {
      readonly kind: 'answer';
      readonly number: number;
      readonly code: number;
      readonly headers: Readonly<Record<string, string | readonly string[]>>;
      /** Undefined: the answer is streamed. */
      readonly body: Uint8Array | undefined;
    })
  | (Remarks & {
      readonly kind: 'refusal';
      readonly number: number;
      readonly refusal: Refusal;
      readonly cause: string;
      /** The error is unexpected: a defect. */
      readonly isUnforeseen: boolean;
    })
  /** An encoded element or frame; without bytes, encoding failed. */
  | { readonly kind: 'element'; readonly number: number; readonly bytes: Uint8Array | undefined }
  | { readonly kind: 'piece'; readonly number: number; readonly bytes: Uint8Array }
  /** A stream has ended, or (`why`) failed. */
  | { readonly kind: 'end'; readonly number: number; readonly why: string | undefined };

/** The initial data of a worker. */
export interface ThreadData {
  /** The port for requests. */
  readonly requests: MessagePort;
  /** The port of the store. */
  readonly store: MessagePort;
}
