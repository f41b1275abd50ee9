import type { Registry } from 'prom-client';
import type { AuthenticationCounts } from '../../access/authentication/authentication-counts';
import { AUTHENTICATION_RESULTS } from '../../access/authentication/authentication-counts';
import { addHistogram } from '../../../shared/metrics/bucket-histogram';
import { addCounter } from './collected';

/** Shows how authentication ends and how long it takes, under kube-apiserver's names. */
export function addAuthenticationMetrics(registry: Registry, counts: AuthenticationCounts): void {
  const { durations, users, certificateLife } = counts;
  addCounter(registry, {
    name: 'authenticated_user_requests',
    help: 'Authenticated requests by kind of user name.',
    labels: ['username'],
    *read() {
      for (const [username, requests] of users) yield [{ username }, requests];
    },
  });
  addCounter(registry, {
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
  addHistogram(
    registry,
    {
      name: 'authentication_duration_seconds',
      help: 'The latency of authentication.',
      labels: ['result'],
    },
    function* read() {
      for (const result of AUTHENTICATION_RESULTS) {
        if (durations[result].count > 0) yield { labels: { result }, durations: durations[result] };
      }
    },
  );
  addHistogram(
    registry,
    {
      name: 'apiserver_client_certificate_expiration_seconds',
      help: 'The remaining validity of the client certificates of requests.',
      labels: [],
    },
    () => [{ labels: {}, durations: certificateLife }],
  );
}
