import type { Event, Node, Pod } from '../../shared/api/types/core-v1';
import { silentLog } from '../../shared/log/log';
import { USER } from '../../shared/names';
import type { RoleBench } from '../testing/role-bench';
import { createRoleBench } from '../testing/role-bench';
import type { AttemptResult } from './scheduler';
import { runScheduler } from './scheduler';
import { SchedulingQueue } from './scheduling-queue';

const NODES = '/api/v1/nodes';
const PODS = '/api/v1/namespaces/default/pods';
const EVENTS = '/api/v1/namespaces/default/events';

let bench: RoleBench;
let stop: AbortController;
let running: Promise<void>;
let attempts: AttemptResult[];

beforeEach(async () => {
  bench = await createRoleBench();
  await bench.call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } }).catch(() => undefined);
  await bench.call('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  stop = new AbortController();
  attempts = [];
  running = runScheduler(
    {
      client: bench.clientAs({ name: USER.scheduler }),
      log: silentLog,
      // Backoff is tested with the queue; here it must not make the tests wait.
      queue: new SchedulingQueue({ backoffInitialMs: 1, backoffMaxMs: 1 }),
      observe: (result) => void attempts.push(result),
    },
    stop.signal,
  );
});
afterEach(async () => {
  stop.abort(new Error('the test is over'));
  await running;
  await bench.close();
});

async function addNode(name: string, cpu = '2'): Promise<void> {
  const node = (await bench.call('POST', NODES, { metadata: { name } })) as Node;
  const status = {
    allocatable: { cpu, memory: '4Gi', pods: '10' },
    capacity: { cpu, memory: '4Gi', pods: '10' },
  };
  // Admission gives new nodes a taint until they are ready.
  await bench.call('PUT', `${NODES}/${name}`, { ...node, spec: { taints: [] } });
  const { metadata } = await bench.call('GET', `${NODES}/${name}`);
  await bench.call('PUT', `${NODES}/${name}/status`, { metadata, status });
}

async function addPod(name: string, spec: object = {}, cpu = '1'): Promise<void> {
  const containers = [{ name: 'main', image: 'x', resources: { requests: { cpu } } }];
  await bench.call('POST', PODS, { metadata: { name }, spec: { containers, ...spec } });
}

const scheduled = async (name: string): Promise<string | undefined> =>
  (await bench.when<Pod>(PODS, name, (pod) => (pod?.spec.nodeName ?? '') !== ''))?.spec.nodeName;

/** Waits for an Event of a pod with this reason and count. */
async function eventOf(name: string, reason: string, count = 1): Promise<Event> {
  for (;;) {
    const { items } = (await bench.call('GET', EVENTS)) as unknown as { items: readonly Event[] };
    const found = items.find(
      (event) => event.involvedObject.name === name && event.reason === reason && (event.count ?? 0) >= count,
    );
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('a pod is bound with the rights of the scheduler, gets its condition, and an Event says where it went', async () => {
  await addNode('one');
  await addPod('web');
  expect(await scheduled('web')).toBe('one');
  const pod = (await bench.call('GET', `${PODS}/web`)) as Pod;
  expect(pod.status?.conditions).toMatchObject([{ type: 'PodScheduled', status: 'True' }]);
  expect(await eventOf('web', 'Scheduled')).toMatchObject({
    type: 'Normal',
    message: 'Successfully assigned default/web to one',
    source: { component: 'default-scheduler' },
  });
  expect(attempts).toEqual(['scheduled']);
});

test('a pod that fits nowhere says why, and is placed once a change makes it fit', async () => {
  await addNode('small');
  await addPod('first');
  expect(await scheduled('first')).toBe('small');
  await addPod('large', {}, '1500m');
  const waiting = await bench.when<Pod>(
    PODS,
    'large',
    (pod) => pod?.status?.conditions?.some(({ type }) => type === 'PodScheduled') === true,
  );
  const message = '0/1 nodes are available: 1 Insufficient cpu.';
  expect(waiting?.status?.conditions).toMatchObject([
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message },
  ]);
  expect(await eventOf('large', 'FailedScheduling')).toMatchObject({ type: 'Warning', message });
  await bench.call('DELETE', `${PODS}/first`, { gracePeriodSeconds: 0 });
  expect(await scheduled('large')).toBe('small');
});

test('the next pod sees the place of the one before it, and equal failures are counted in one Event', async () => {
  await addNode('one');
  for (const name of ['a', 'b', 'c']) await addPod(name);
  const nodeNames = await Promise.all(['a', 'b'].map(scheduled));
  expect(nodeNames).toEqual(['one', 'one']);
  expect((await eventOf('c', 'FailedScheduling')).count).toBe(1);
  // A label of the node is worth another attempt, which fails for the same reason.
  const node = await bench.call('GET', `${NODES}/one`);
  const metadata = { ...node.metadata, labels: { changed: 'yes' } };
  await bench.call('PUT', `${NODES}/one`, { ...node, metadata });
  expect((await eventOf('c', 'FailedScheduling', 2)).count).toBe(2);
});

test('pods of other schedulers and deleted pods are left alone', async () => {
  await addPod('other', { schedulerName: 'someone-else' });
  await addPod('leaving');
  await eventOf('leaving', 'FailedScheduling');
  await bench.call('DELETE', `${PODS}/leaving`, { gracePeriodSeconds: 0 });
  await addNode('one');
  await addPod('after');
  expect(await scheduled('after')).toBe('one');
  const other = (await bench.call('GET', `${PODS}/other`)) as Pod;
  expect(other.spec.nodeName).toBeUndefined();
});
