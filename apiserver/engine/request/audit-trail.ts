import type { Status } from '../../../shared/errors/status-error';
import type { UserInfo } from './exchange';

/** The metadata that identifies the object of a request. */
export interface ObjectIdentity {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** A JSON body; a long list comes in pieces. */
export type JsonBody = Buffer | AsyncIterable<Buffer>;

/** The objects that the audit event contains. */
export interface WantedObjects {
  readonly request: boolean;
  readonly response: boolean;
}

/**
 * Collects the audit event of a request. Every stage reports what it knows; values that the policy does not need are
 * dropped at once, and functions that encode JSON are called only if needed.
 */
export interface AuditTrail {
  /** The Audit-ID of the client, or one generated for the request. */
  readonly id: string;
  /** Known after authentication. */
  readonly wants: WantedObjects;
  /** Adds an annotation. The first value of a key is kept. `from` is the lowest audit level that has it; default: all. */
  annotate(key: string, value: string, from?: 'Request'): void;
  /** The request impersonates another user. */
  impersonated(user: UserInfo): void;
  /** The object of the request, after it was decoded. Patches and options have no identity. */
  requestObject(identity: ObjectIdentity | undefined, json: () => Buffer): void;
  /** The object of the answer. */
  responseObject(json: () => JsonBody | Promise<JsonBody>): void;
  /** The answer is a Status. */
  responseStatus(status: Pick<Status, 'status' | 'reason'>): void;
}
