import { NAMESPACE, SERVICE_ACCOUNT } from '../../../shared/names';
import { DurationHistogram } from '../../../shared/metrics/duration-histogram';

/** The result of authentication: a user, no credential, or a refused credential. */
export const AUTHENTICATION_RESULTS = ['success', 'failure', 'error'] as const;
export type AuthenticationResult = (typeof AUTHENTICATION_RESULTS)[number];

/** Buckets from 1 ms, doubled up to 16 s. */
const DURATION_BOUNDS_SECONDS: readonly number[] = Array.from({ length: 15 }, (_each, n) => 2 ** n / 1_000);
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Buckets for the remaining lifetime of a certificate. */
const EXPIRATION_BOUNDS_SECONDS: readonly number[] = [
  0,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  4 * DAY,
  7 * DAY,
  30 * DAY,
  90 * DAY,
  180 * DAY,
  360 * DAY,
];
/** User names that are label values; others are grouped, to bound the cardinality. */
const KNOWN_USERS: ReadonlySet<string> = new Set([
  'admin',
  'client',
  'kube_proxy',
  'kubelet',
  `${SERVICE_ACCOUNT.userPrefix}${NAMESPACE.system}:default`,
]);

/** Counters of authentication, for metrics. */
export class AuthenticationCounts {
  readonly durations: Readonly<Record<AuthenticationResult, DurationHistogram>> = {
    success: new DurationHistogram(DURATION_BOUNDS_SECONDS),
    failure: new DurationHistogram(DURATION_BOUNDS_SECONDS),
    error: new DurationHistogram(DURATION_BOUNDS_SECONDS),
  };
  /** Requests by kind of user name. */
  readonly users = new Map<string, number>();
  /** The remaining lifetime of client certificates, valid or not. */
  readonly certificateLife = new DurationHistogram(EXPIRATION_BOUNDS_SECONDS);

  /** Counts one request. `user` is given on success. */
  observe(result: AuthenticationResult, ms: number, user?: string): void {
    this.durations[result].observe(ms);
    if (user === undefined) return;
    const kind = kindOf(user);
    this.users.set(kind, (this.users.get(kind) ?? 0) + 1);
  }
}

function kindOf(user: string): string {
  if (KNOWN_USERS.has(user)) return user;
  return user.includes('@') ? 'email_id' : 'other';
}
