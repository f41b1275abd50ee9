import type { MetricSet } from '../../../shared/metrics/metric-set';
import type { AuthenticationCounts } from '../../engine/authn/authentication-counts';
import { AUTHENTICATION_RESULTS } from '../../engine/authn/authentication-counts';

/** Adds the results and durations of authentication, under kube-apiserver's names. */
export function addAuthenticationMetrics(metrics: MetricSet, counts: AuthenticationCounts): void {
  const { durations, users, certificateLife } = counts;
  metrics.counter({
    name: 'authenticated_user_requests',
    help: 'Authenticated requests by kind of user name.',
    labels: ['username'],
    *read() {
      for (const [username, requests] of users) yield [{ username }, requests];
    },
  });
  metrics.counter({
    name: 'authentication_attempts',
    help: 'Authentication attempts by result: success, failure (no credential) or error (invalid credential).',
    labels: ['result'],
    *read() {
      for (const result of AUTHENTICATION_RESULTS) {
        const { count } = durations[result];
        if (count > 0) yield [{ result }, count];
      }
    },
  });
  metrics.histogram({
    name: 'authentication_duration_seconds',
    help: 'The latency of authentication.',
    labels: ['result'],
    *read() {
      for (const result of AUTHENTICATION_RESULTS) {
        if (durations[result].count > 0) yield [{ result }, durations[result]];
      }
    },
  });
  metrics.histogram({
    name: 'apiserver_client_certificate_expiration_seconds',
    help: 'The remaining validity of the client certificates of requests.',
    labels: [],
    read: () => [[{}, certificateLife]],
  });
}
