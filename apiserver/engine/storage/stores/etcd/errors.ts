import { StorageError } from '../../backend';
import { STATUS, TransportError } from '../../grpc/transport';

/** Whether a call is idempotent: reads and idempotent writes are `repeatable`. */
export type CallKind = 'repeatable' | 'write';

/**
 * Converts the error of a call to a StorageError. A write that may have been sent is `unknown-outcome`, unless the server explicitly refused it.
 */
export function toStorageError(error: unknown, kind: CallKind): StorageError {
  if (error instanceof StorageError) return error;
  if (!(error instanceof TransportError)) {
    const message = error instanceof Error ? error.message : String(error);
    return new StorageError(kind === 'write' ? 'unknown-outcome' : 'unavailable', message, { cause: error });
  }
  const refusal = refusalFor(error);
  if (refusal !== undefined) {
    return new StorageError(refusal.means, `${refusal.message} ${error.message}.`, { cause: error });
  }
  if (!error.mayHaveRun) {
    const hint = tlsHint(error.details);
    return new StorageError(
      hint === undefined ? 'unavailable' : 'denied',
      `${hint ?? 'etcd cannot be reached.'} ${error.message}.`,
      {
        cause: error,
      },
    );
  }
  if (kind === 'write') {
    return new StorageError(
      'unknown-outcome',
      `It is not known whether etcd made the write. ${error.message}.`,
      {
        cause: error,
      },
    );
  }
  return new StorageError('unavailable', `etcd did not answer. ${error.message}.`, { cause: error });
}

/** Whether the call was not processed and may be retried on another endpoint or later. */
export function isRefusedByMember(error: unknown): boolean {
  if (!(error instanceof TransportError)) return false;
  const refusal = refusalFor(error);
  if (refusal !== undefined) return refusal.details === NO_LEADER;
  return !error.mayHaveRun && tlsHint(error.details) === undefined;
}

/** Whether a repeatable call may succeed on another endpoint. */
export function isOutage(error: unknown): boolean {
  if (isRefusedByMember(error)) return true;
  if (!(error instanceof TransportError) || !error.mayHaveRun) return false;
  return OUTAGE_CODES.has(error.code) && refusalFor(error) === undefined;
}

/** Whether the token is no longer good and a new one should be fetched. The server checks it before it does anything. */
export function isStaleToken(error: unknown): boolean {
  return error instanceof TransportError && STALE_TOKEN.test(error.details);
}

/** The error for a watch that etcd refused to create. */
export function watchRefusal(reason: string): StorageError | undefined {
  if (!PERMISSION.test(reason)) return undefined;
  return new StorageError(
    'denied',
    `etcd refuses the watch: ${reason}. orch watches the whole keyspace; grant its user read on all keys ` +
      '(etcdctl role grant-permission <role> read "" --from-key) and readwrite below the prefix.',
  );
}

const PERMISSION = /permission denied/;
const NO_LEADER = /etcdserver: no leader/;
const STALE_TOKEN =
  /etcdserver: (?:invalid auth token|auth: revision in header is old)|auth: revision in header is old/;
const OUTAGE_CODES: ReadonlySet<number> = new Set([
  STATUS.unavailable,
  STATUS.deadlineExceeded,
  STATUS.internal,
  STATUS.unknown,
  STATUS.cancelled,
]);

/** Answers by which etcd refuses a call without processing it. */
const REFUSALS = [
  {
    code: STATUS.outOfRange,
    details: /required revision has been compacted/,
    means: 'compacted',
    message: 'The revision is compacted.',
  },
  {
    code: STATUS.outOfRange,
    details: /required revision is a future revision/,
    means: 'future',
    message: 'The revision has not happened yet.',
  },
  {
    code: STATUS.invalidArgument,
    details: /request is too large/,
    means: 'too-large',
    message: 'etcd refuses a request of this size (its --max-request-bytes, 1.5 MiB by default).',
  },
  {
    code: STATUS.resourceExhausted,
    details: /received message larger than max/,
    means: 'too-large',
    message: 'etcd refuses a request of this size (its --max-request-bytes, 1.5 MiB by default).',
  },
  {
    code: STATUS.resourceExhausted,
    details: /database space exceeded/,
    means: 'full',
    message:
      'The etcd database is full and takes only deletions: compact and defragment it, then disarm the alarm (deploy/UPGRADING.md), or raise --quota-backend-bytes.',
  },
  {
    code: STATUS.resourceExhausted,
    details: /too many requests/,
    means: 'unavailable',
    message: 'etcd is overloaded.',
  },
  {
    code: STATUS.unavailable,
    details: NO_LEADER,
    means: 'unavailable',
    message: 'The etcd member has no leader.',
  },
  {
    code: STATUS.permissionDenied,
    details: PERMISSION,
    means: 'denied',
    message:
      'The etcd user lacks a grant: it needs readwrite below the prefix and read on the whole keyspace (for the watch).',
  },
  {
    code: STATUS.invalidArgument,
    details: /authentication failed|user name is empty|user name not found|auth: revision in header/,
    means: 'denied',
    message: 'etcd refuses the credentials: set the user name and the password that etcd knows.',
  },
  {
    code: STATUS.unauthenticated,
    details: /./,
    means: 'denied',
    message: 'etcd refuses the credentials.',
  },
] as const;

function refusalFor(error: TransportError): (typeof REFUSALS)[number] | undefined {
  return REFUSALS.find((row) => row.code === error.code && row.details.test(error.details));
}

/** A retry does not fix a failed handshake, so the error says what to check. */
function tlsHint(details: string): string | undefined {
  if (/x509: |unknown ca/i.test(details)) {
    return "etcd's server certificate is not trusted: check the CA file and the endpoint's host name.";
  }
  if (/alert|bad certificate|certificate required|ERR_SSL|EPROTO/i.test(details)) {
    return 'etcd refuses the TLS handshake: it asks for a client certificate of its own CA; check the certificate and key files.';
  }
  return undefined;
}
