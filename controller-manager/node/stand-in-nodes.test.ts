import type { Node, Pod } from '../../shared/api/types/core-v1';
import type { Lease } from '../../shared/api/types/coordination-v1';
import { createWorkQueue } from '../../shared/concurrency/work-queue';
import { silentLog } from '../../shared/log/log';
import { GROUP, KWOK_DOMAIN, METRICS_GROUP, NAMESPACE } from '../../shared/names';
import { eventually } from '../../shared/testing/eventually';
import type { RoleBench } from '../testing/role-bench';
import { createRoleBench } from '../testing/role-bench';
import { PodAddresses } from './pod-addresses';
import { answerMetrics } from './resource-metrics';
import { StandInNodes } from './stand-in-nodes';

const NODES = '/api/v1/nodes';
const PODS = '/api/v1/namespaces/default/pods';
const LEASES = `/apis/${GROUP.coordination}/v1/namespaces/${NAMESPACE.nodeLease}/leases`;

let bench: RoleBench;
let nodes: StandInNodes;
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  bench = await createRoleBench();
  for (const name of ['default', NAMESPACE.nodeLease])
    await bench.call('POST', '/api/v1/namespaces', { metadata: { name } }).catch(() => undefined);
  await bench.call('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  stop = new AbortController();
  nodes = new StandInNodes({
    client: bench.clientAs({ name: 'nodes', groups: ['system:masters'] }),
    log: silentLog,
    names: ['node-1', 'node-2'],
    shape: { address: '127.0.0.1', agentPort: 10_250, cpu: '4', memory: '8Gi', pods: 10, version: 'v1.21.0' },
    createQueue: () => createWorkQueue(),
  });
  running = nodes.run(stop.signal);
});
afterEach(async () => {
  stop.abort(new Error('the test is over'));
  await running;
  await bench.close();
});

const isReady = (node: Node | undefined): boolean =>
  node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
const isUntainted = (node: Node | undefined): boolean => (node?.spec?.taints ?? []).length === 0;

async function addPod(
  name: string,
  more: { annotations?: object; finalizers?: string[] } = {},
): Promise<void> {
  const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'x' }] };
  await bench.call('POST', PODS, { metadata: { name, ...more }, spec });
}

test('nodes register, become ready without taints, keep a Lease, and are not ready after the end', async () => {
  const node = await bench.when<Node>(NODES, 'node-1', (each) => isReady(each) && isUntainted(each));
  expect(node?.status?.allocatable).toMatchObject({ cpu: '4', memory: '8Gi', pods: '10' });
  expect(node?.spec?.podCIDR).toBe('10.244.0.0/24');
  await bench.when<Node>(NODES, 'node-2', (each) => isReady(each) && isUntainted(each));
  const lease = await bench.when<Lease>(LEASES, 'node-2', (each) => each !== undefined);
  expect(lease?.spec).toMatchObject({ holderIdentity: 'node-2', leaseDurationSeconds: 40 });
  stop.abort(new Error('stop'));
  await running;
  await nodes.markStopped(AbortSignal.timeout(60_000));
  const stopped = (await bench.call('GET', `${NODES}/node-1`)) as Node;
  expect([isReady(stopped), isUntainted(stopped)]).toEqual([false, false]);
});

test('a pod becomes ready with an address by one write, has metrics, and is deleted by its node', async () => {
  await bench.when<Node>(NODES, 'node-1', isReady);
  await addPod('web', { annotations: { [`${KWOK_DOMAIN}/usage-cpu`]: '250m' } });
  const pod = await bench.when<Pod>(PODS, 'web', (each) => each?.status?.phase === 'Running');
  expect(pod?.status).toMatchObject({ podIP: '10.244.0.1', hostIP: '127.0.0.1' });
  expect(pod?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
  const sources = { nodes: nodes.nodes.store, pods: nodes.pods.store, hasNode: nodes.has.bind(nodes) };
  const read = (path: string): unknown =>
    answerMetrics(new URL(`https://x/apis/${METRICS_GROUP}/v1beta1/${path}`), sources, 0)?.body;
  await eventually(
    'the nodes have seen the status',
    () => nodes.pods.store.get('default/web')?.status?.phase === 'Running',
  );
  expect(read('namespaces/default/pods/web')).toMatchObject({
    containers: [{ name: 'main', usage: { cpu: '250m', memory: '1Mi' } }],
  });
  expect(read('nodes')).toMatchObject({
    items: [{ metadata: { name: 'node-1' }, usage: { cpu: '250m' } }, { usage: { cpu: '0' } }],
  });
  await bench.call('DELETE', `${PODS}/web`);
  await bench.when<Pod>(PODS, 'web', (each) => each === undefined);
  const ofStatus = bench.writes.filter((write) => write.endsWith('/pods/web/status'));
  expect(ofStatus).toHaveLength(1);
});

test('a deleted pod that a finalizer holds has failed, and goes with its finalizer', async () => {
  await bench.when<Node>(NODES, 'node-1', isReady);
  await addPod('held', { finalizers: ['example.com/hold'] });
  await bench.when<Pod>(PODS, 'held', (each) => each?.status?.phase === 'Running');
  await bench.call('DELETE', `${PODS}/held`);
  const held = await bench.when<Pod>(
    PODS,
    'held',
    (each) => each?.status?.phase === 'Failed' && each.metadata.deletionGracePeriodSeconds === 0,
  );
  expect(held?.status?.containerStatuses).toMatchObject([
    { ready: false, state: { terminated: { exitCode: 143 } } },
  ]);
  await bench.call('PUT', `${PODS}/held`, { ...held, metadata: { ...held?.metadata, finalizers: [] } });
  await bench.when<Pod>(PODS, 'held', (each) => each === undefined);
  expect(bench.writes.filter((write) => write.endsWith('/pods/held/status'))).toHaveLength(2);
});

test('addresses are given once, reused late, and run out', () => {
  const addresses = new PodAddresses();
  addresses.note('there', '10.244.1.2');
  expect(addresses.take('a', 1)).toBe('10.244.1.1');
  expect(addresses.take('a', 1)).toBe('10.244.1.1');
  expect(addresses.take('b', 1)).toBe('10.244.1.3');
  addresses.release('a');
  expect(addresses.take('c', 1)).toBe('10.244.1.4');
  for (let at = 0; at < 251; at += 1) expect(addresses.take(`more-${String(at)}`, 1)).toBeDefined();
  expect(addresses.take('last', 1)).toBeUndefined();
  addresses.release('b');
  expect(addresses.take('last', 1)).toBe('10.244.1.3');
  expect(addresses.take('far', 300)).toBe('10.245.44.1');
});
