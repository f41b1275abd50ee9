import { ownKeyMap } from '../../../../shared/own-key-map';
import { CERTIFICATE_ERROR } from '../../../../shared/client/connect-tls';
import { ConnectionError } from '../../../../shared/client/connection-error';
import type { Webhook } from './webhook';

/** The kind of failure, for metrics and debug pages. */
export type FailureReason =
  /** No answer, by the webhook's fault. */
  | 'refused'
  | 'unreachable'
  | 'dns'
  | 'tls'
  | 'cut'
  | 'protocol'
  | 'timeout'
  /** An unusable answer. */
  | 'answer'
  /** Not called. */
  | 'address'
  | 'version'
  | 'outage'
  | 'overload'
  /** The request was aborted or its time is over. */
  | 'abandoned';

/** A webhook call failed; its failurePolicy decides the consequence. */
export class CallFailure extends Error {
  readonly reason: FailureReason;
  /** The message without the webhook's name. */
  readonly why: string;

  constructor({ name }: Pick<Webhook, 'name'>, why: string, how: { reason: FailureReason; cause?: unknown }) {
    super(`failed calling webhook ${JSON.stringify(name)}: ${why}`, { cause: how.cause });
    this.name = 'CallFailure';
    this.reason = how.reason;
    this.why = why;
  }
}

/** Node's error codes; this table is checked first. */
const REASONS = ownKeyMap<FailureReason>({
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ECONNRESET: 'cut',
  EPIPE: 'cut',
  ETIMEDOUT: 'timeout',
  EMSGSIZE: 'answer',
  EPROTO: 'tls',
  [CERTIFICATE_ERROR]: 'tls',
});

/** Node's codes for handshake errors. */
const TLS_CODE = /^ERR_(?:TLS|SSL)_/;

/** Classifies an error of the connection. */
export function reasonOf(error: unknown): FailureReason {
  if (!(error instanceof ConnectionError)) return 'protocol';
  return REASONS.get(error.code) ?? (TLS_CODE.test(error.code) ? 'tls' : 'protocol');
}
