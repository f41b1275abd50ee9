import type { Status } from '../../../shared/errors/status-error';
import type { UserInfo } from './exchange';

/** What of an object's metadata tells which object a request is about. */
export interface ObjectIdentity {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** A list that is longer than one buffer comes in pieces. */
export type JsonBody = Buffer | AsyncIterable<Buffer>;

/** Which objects are written down. */
export interface WantedObjects {
  readonly request: boolean;
  readonly response: boolean;
}

/**
 * What is written down about a request that is audited. Whoever knows something says it here; what the policy does not ask for is
 * forgotten at once, and the functions that make JSON are called only when it is wanted.
 */
export interface AuditTrail {
  /** The id that the client sent along, or one made for this request. */
  readonly id: string;
  /** Known once the request's author is. */
  readonly wants: WantedObjects;
  /**
   * Notes a fact for the audit event. The first value of a key stays. Values are short. `from` is the level from which on it is noted;
   * by default every one.
   */
  annotate(key: string, value: string, from?: 'Request'): void;
  /** The request is carried out as somebody else. */
  impersonated(user: UserInfo): void;
  /** What the client sent, once it was understood. Patches and options have no identity. */
  requestObject(identity: ObjectIdentity | undefined, json: () => Buffer): void;
  /** What the answer shows. */
  responseObject(json: () => JsonBody | Promise<JsonBody>): void;
  /** The answer is a Status. */
  responseStatus(status: Pick<Status, 'status' | 'reason'>): void;
}
