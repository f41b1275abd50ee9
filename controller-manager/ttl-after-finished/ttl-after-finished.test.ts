import { RESOURCE } from '../../shared/api/resource-names';
import { formatTime } from '../../shared/meta/time';
import type { WorkloadBench } from '../testing/workload-bench';
import { createWorkloadBench, podTemplate } from '../testing/workload-bench';
import { runTtlAfterFinished } from './ttl-after-finished';

let bench: WorkloadBench;
beforeEach(async () => {
  bench = await createWorkloadBench();
});
afterEach(async () => bench.close());

test('a finished Job is deleted after its time, and no other one', async () => {
  const nowMs = Date.parse('2021-06-01T00:00:00Z');
  const template = { ...podTemplate({}), spec: { ...podTemplate({}).spec, restartPolicy: 'Never' } };
  const finish = async (name: string, secondsAgo: number): Promise<void> => {
    const time = formatTime(nowMs - secondsAgo * 1_000);
    const conditions = [{ type: 'Complete', status: 'True', lastProbeTime: time, lastTransitionTime: time }];
    await bench.change(RESOURCE.jobs, name, { status: { conditions } }, 'status');
  };
  const spec = { template, ttlSecondsAfterFinished: 60 };
  for (const name of ['due', 'early', 'active']) await bench.make(RESOURCE.jobs, name, { spec });
  await bench.make(RESOURCE.jobs, 'kept', { spec: { template } });
  await finish('due', 60);
  await finish('early', 59);
  await finish('kept', 600);
  bench.run(
    async (context, signal) => runTtlAfterFinished(context, signal, { now: () => nowMs }),
    'ttl-after-finished-controller',
  );
  const left = await bench.whenList(RESOURCE.jobs, 'one deletion', (jobs) =>
    jobs.every(({ metadata }) => metadata.name !== 'due' || metadata.deletionTimestamp !== undefined),
  );
  expect(
    left
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name),
  ).toEqual(['active', 'early', 'kept']);
});
