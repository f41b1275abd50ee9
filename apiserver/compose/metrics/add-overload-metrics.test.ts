import { MetricSet } from '../../../shared/metrics/metric-set';
import { StepTimes } from '../../../shared/concurrency/long-steps';
import { addOverloadMetrics } from './add-overload-metrics';

test('reports slow steps, event-loop delay, and rejected requests', async () => {
  const metrics = new MetricSet();
  let now = 0;
  const steps = new StepTimes(() => now);
  const dropped = { mutating: 0, readOnly: 0 };
  let isLate = false;
  addOverloadMetrics(metrics, {
    steps,
    dropped,
    lag: {
      get isLate() {
        return isLate;
      },
    },
  });
  expect(String(await metrics.exposition())).toContain('apiserver_loop_late 0');
  for (const ms of [30, 700]) {
    steps.run('parse_yaml', () => {
      now += ms;
    });
  }
  isLate = true;
  dropped.mutating = 3;
  const text = String(await metrics.exposition());
  expect(text.split('\n')).toEqual(
    expect.arrayContaining([
      'apiserver_dropped_requests_total{request_kind="mutating"} 3',
      'apiserver_dropped_requests_total{request_kind="readOnly"} 0',
      'apiserver_loop_late 1',
      'apiserver_loop_turn_seconds_bucket{stage="parse_yaml",le="0.05"} 1',
      'apiserver_loop_turn_seconds_bucket{stage="parse_yaml",le="1"} 2',
      'apiserver_loop_turn_seconds_count{stage="parse_yaml"} 2',
      'apiserver_loop_turn_longest_seconds{stage="parse_yaml"} 0.7',
    ]),
  );
});
