import { silentLog } from '../../../shared/log/log';
import { createHealthRouter } from '../../engine/observability/health/health-router';
import { newExchange } from '../../engine/request/testing/new-exchange';
import { getPage } from '../../engine/server/testing/get-page';
import { createHealthMetricsRouter, HealthResults } from './health-metrics';

test('probes are counted by check and path, with their last result', async () => {
  const results = new HealthResults();
  let problem: string | undefined;
  const check = async (): Promise<string | undefined> => Promise.resolve(problem);
  const health = createHealthRouter({
    checks: [{ name: 'etcd', paths: ['livez', 'readyz'], check }],
    log: silentLog,
    observe: (path, name, isHealthy) => {
      results.observe(path, name, isHealthy);
    },
  });
  await getPage(health, newExchange({ path: '/livez' }));
  await getPage(health, newExchange({ path: '/readyz' }));
  problem = 'down';
  await getPage(health, newExchange({ path: '/readyz' }));
  const page = createHealthMetricsRouter(results, undefined);
  const answer = await getPage(page, newExchange({ path: '/metrics/slis' }));
  const lines = Buffer.isBuffer(answer?.body) ? answer.body.toString().split('\n') : [];
  expect(lines.filter((line) => line.startsWith('kubernetes_'))).toEqual([
    'kubernetes_healthcheck{name="etcd",type="livez"} 1',
    'kubernetes_healthcheck{name="etcd",type="readyz"} 0',
    'kubernetes_healthchecks_total{name="etcd",type="livez",status="success"} 1',
    'kubernetes_healthchecks_total{name="etcd",type="readyz",status="success"} 1',
    'kubernetes_healthchecks_total{name="etcd",type="readyz",status="error"} 1',
  ]);
});
