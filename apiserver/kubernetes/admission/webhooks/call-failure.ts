import { ownKeyMap } from '../../../../shared/own-key-map';
import { ConnectionError } from '../../../../shared/client/connection-error';
import type { Webhook } from './webhook';

/** What was wrong with a call, in a word for metrics and debug pages. */
export type FailureReason =
  /** No answer came, by the webhook's fault. */
  | 'refused'
  | 'unreachable'
  | 'dns'
  | 'tls'
  | 'cut'
  | 'protocol'
  | 'timeout'
  /** It answered, and the answer is of no use. */
  | 'answer'
  /** It was not asked. */
  | 'address'
  | 'version'
  | 'outage'
  | 'overload'
  /** Whoever sent the request has gone, or its time is over. */
  | 'abandoned';

/** A webhook could not be asked, or did not answer as it should: its failurePolicy says what comes of that. */
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

/** Of Node's codes; what stands here is looked at first. */
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
});

/** Node's names for what is wrong with certificates and handshakes. */
const TLS_CODE = /^(?:ERR_(?:TLS|SSL)_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_)/;

/** Why a connection gave no answer. */
export function reasonOf(error: unknown): FailureReason {
  if (!(error instanceof ConnectionError)) return 'protocol';
  return REASONS.get(error.code) ?? (TLS_CODE.test(error.code) ? 'tls' : 'protocol');
}
