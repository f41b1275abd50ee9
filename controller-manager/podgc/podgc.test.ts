import { RESOURCE } from '../../shared/api/resource-names';
import type { Pod, PodSpec } from '../../shared/api/types/core-v1';
import { systemTimers } from '../../shared/concurrency/clock';
import { createWorkQueue } from '../../shared/concurrency/work-queue';
import { loadAtLevel } from '../../shared/testing/load-at-level';
import type * as WorkloadBenchModule from '../testing/workload-bench';
import type * as PodGcModule from './podgc';

const { createWorkloadBench, podTemplate, runPodGc } = loadAtLevel('1.36', () => ({
  ...jest.requireActual<typeof WorkloadBenchModule>('../testing/workload-bench'),
  ...jest.requireActual<typeof PodGcModule>('./podgc'),
}));

const PODS = RESOURCE.pods;

describe('the controller', () => {
  let bench: WorkloadBenchModule.WorkloadBench;
  beforeEach(async () => {
    bench = await createWorkloadBench();
  });
  afterEach(async () => bench.close());

  const waits: number[] = [];
  const start = (options = {}): void => {
    // A thousand times as fast as the machine.
    const beginMs = Date.now();
    const clock = {
      now: () => beginMs + (Date.now() - beginMs) * 1_000,
      after: (ms: number, callback: () => void) => {
        waits.push(ms);
        return systemTimers.after(ms / 1_000, callback);
      },
    };
    const createQueue = () => createWorkQueue({ timers: clock });
    bench.run(
      async (context, signal) => runPodGc({ ...context, clock, createQueue }, signal),
      'pod-garbage-collector',
      options,
    );
  };
  const make = async (name: string, spec: Partial<PodSpec> = {}): Promise<Pod> =>
    bench.make(PODS, name, {
      metadata: { finalizers: ['example.com/keep'] },
      spec: { ...podTemplate({}).spec, ...spec },
    });
  const whenDeleted = async (name: string): Promise<Pod> =>
    bench.whenObject(
      PODS,
      name,
      ({ metadata, status }) => metadata.deletionTimestamp !== undefined && status?.phase === 'Failed',
    );

  test('fails and deletes pods of nodes that are gone, and no others', async () => {
    await bench.make(RESOURCE.nodes, 'here', {});
    await make('kept', { nodeName: 'here' });
    await make('waiting');
    await make('orphan', { nodeName: 'gone' });
    start();
    const { status } = await whenDeleted('orphan');
    expect(status?.conditions).toEqual([
      expect.objectContaining({
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByPodGC',
        message: 'PodGC: node no longer exists',
      }),
    ]);
    for (const name of ['kept', 'waiting'])
      expect((await bench.read(PODS, name)).metadata.deletionTimestamp).toBeUndefined();
    // Two passes at least, each by a timer of the clock: a missing node is looked for again.
    expect(waits.filter((ms) => ms === 20_000).length).toBeGreaterThanOrEqual(2);
  });

  test('deletes the oldest of too many pods that have ended, evicted ones first', async () => {
    const names = ['a', 'b', 'c'];
    for (const name of names) {
      const pod = await make(name);
      await bench.setPodStatus(pod, { phase: 'Failed', ...(name === 'b' ? { reason: 'Evicted' } : {}) });
    }
    await make('running');
    start({ terminatedPodGcThreshold: 2 });
    await bench.whenObject(PODS, 'b', ({ metadata }) => metadata.deletionTimestamp !== undefined);
    expect((await bench.read(PODS, 'running')).metadata.deletionTimestamp).toBeUndefined();
  });
});
