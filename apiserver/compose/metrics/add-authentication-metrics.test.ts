import { MetricSet } from '../../../shared/metrics/metric-set';
import { AuthenticationCounts } from '../../engine/authn/authentication-counts';
import { addAuthenticationMetrics } from './add-authentication-metrics';

test('attempts, their duration and the kinds of users are current at each scrape', async () => {
  const metrics = new MetricSet();
  const counts = new AuthenticationCounts();
  addAuthenticationMetrics(metrics, counts);
  expect(String(await metrics.exposition())).not.toMatch(/^authentication_attempts\{/m);
  counts.observe('success', 1.5, 'admin');
  counts.observe('success', 0.5, 'jane@example.com');
  counts.observe('success', 0.5, 'system:serviceaccount:ns:robot');
  counts.observe('success', 0.5, 'jane');
  counts.observe('error', 3);
  counts.certificateLife.observe(3_000_000);
  const text = String(await metrics.exposition());
  for (const line of [
    'authenticated_user_requests{username="admin"} 1',
    'authenticated_user_requests{username="email_id"} 1',
    'authenticated_user_requests{username="other"} 2',
    'authentication_attempts{result="success"} 4',
    'authentication_attempts{result="error"} 1',
    'authentication_duration_seconds_bucket{result="success",le="0.001"} 3',
    'authentication_duration_seconds_bucket{result="success",le="0.002"} 4',
    'authentication_duration_seconds_count{result="error"} 1',
    'apiserver_client_certificate_expiration_seconds_bucket{le="1800"} 0',
    'apiserver_client_certificate_expiration_seconds_bucket{le="3600"} 1',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
  expect(text).not.toMatch(/result="failure"/);
});
