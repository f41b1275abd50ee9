import type { IncomingHttpHeaders } from 'node:http';
import type { MessagePort } from 'node:worker_threads';
import type { Status } from '../../../shared/errors/status-error';
import type { ShortStatus } from '../request/answered-error';
import type { ObjectIdentity, WantedObjects } from '../request/audit-trail';
import type { UserInfo } from '../request/exchange';
import type { ElementRequest } from '../handlers/element-encoder';

/** What the loop that serves everybody and the thread for large requests say to each other. Every request has an id of its own. */

/** What a worker has counted since its last report. Only the composition, which creates both ends, knows its form. */
export type WorkerCounts = object;

/** A request that has been authenticated and authorized, as data. */
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
  /** Empty where there is none. */
  readonly body: Uint8Array;
  /** Which objects are to be written down beside what else is known of it; undefined: nothing is. */
  readonly audited: WantedObjects | undefined;
}

export type ToThread =
  | { readonly kind: 'request'; readonly number: number; readonly request: OffloadedRequest }
  /** An element of a list, or a frame, is to be written. */
  | { readonly kind: 'element'; readonly number: number; readonly request: ElementRequest }
  /** Nobody waits for the answer any more. `status` is what the client is told, if anything. */
  | { readonly kind: 'abort'; readonly number: number; readonly status: Status | undefined }
  /** The next piece of a streamed answer. */
  | { readonly kind: 'next'; readonly number: number };

/** What audit is to be told, in order. */
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
      /** Undefined where it is not wanted. */
      readonly json: Uint8Array | undefined;
    }
  | { readonly kind: 'response'; readonly json: Uint8Array }
  | { readonly kind: 'status'; readonly status: Pick<Status, 'status' | 'reason'> };

/** What was said of a request beside its answer. */
export interface Remarks {
  readonly warnings: readonly string[];
  readonly notes: readonly AuditNote[];
}

/** With an answer that is ready, where the Status is too long for the loop that serves everybody. */
export type Refusal =
  | { readonly status: Status }
  | {
      readonly short: ShortStatus;
      readonly headers: Readonly<Record<string, string | readonly string[]>>;
      readonly body: Uint8Array;
    };

export type FromThread =
  /** The thread is ready, which takes the time of a small start. */
  | { readonly kind: 'ready' }
  /** What plugins and webhooks have counted meanwhile. */
  | { readonly kind: 'measured'; readonly measured: WorkerCounts }
  /** The request is being carried out from now on. */
  | { readonly kind: 'begun'; readonly number: number }
  | (Remarks & {
      readonly kind: 'answer';
      readonly number: number;
      readonly code: number;
      readonly headers: Readonly<Record<string, string | readonly string[]>>;
      /** Undefined: it is streamed. */
      readonly body: Uint8Array | undefined;
    })
  | (Remarks & {
      readonly kind: 'refusal';
      readonly number: number;
      readonly refusal: Refusal;
      readonly cause: string;
      /** Nobody has foreseen the error: it is a defect. */
      readonly isUnforeseen: boolean;
    })
  /** An element of a list, or a frame; without bytes, it could not be written. */
  | { readonly kind: 'element'; readonly number: number; readonly bytes: Uint8Array | undefined }
  | { readonly kind: 'piece'; readonly number: number; readonly bytes: Uint8Array }
  /** A streamed answer is complete, or (`why`) broke off. */
  | { readonly kind: 'end'; readonly number: number; readonly why: string | undefined };

/** What a new thread is given. */
export interface ThreadData {
  /** Requests come in here. */
  readonly requests: MessagePort;
  /** The store is behind this one. */
  readonly store: MessagePort;
  /** `host:port` at which clients reach this server. */
  readonly serverAddress: string;
}
