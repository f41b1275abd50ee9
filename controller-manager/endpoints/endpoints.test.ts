import { RESOURCE } from '../../shared/api/resource-names';
import type { Pod, PodStatus, Service } from '../../shared/api/types/core-v1';
import type { Endpoint, EndpointSlice } from '../../shared/api/types/discovery-v1';
import { LABEL } from '../../shared/names';
import { ENDPOINTSLICE_MANAGER, WORKLOAD_LABEL } from '../../shared/workload-names';
import type { WorkloadBench } from '../testing/workload-bench';
import { createWorkloadBench, podTemplate } from '../testing/workload-bench';
import { endpointsOf, runEndpoints } from './endpoints';
import { runEndpointSlices } from './endpointslices';
import { targetPortOf } from './service-pods';
import { planSlices } from './slice-plan';

const WEB = { app: 'web' };
const SERVICE = {
  spec: { selector: WEB, ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }] },
};
const container = {
  name: 'web',
  image: 'web:1',
  resources: {},
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
};
const running = (...ips: readonly string[]): Partial<PodStatus> => ({
  podIP: ips[0] ?? '',
  podIPs: ips.map((ip) => ({ ip })),
});

let bench: WorkloadBench;

const makePod = async (name: string, ip: string): Promise<Pod> => {
  const pod = await bench.make(RESOURCE.pods, name, {
    metadata: { labels: WEB },
    spec: { ...podTemplate({}).spec, nodeName: 'n', containers: [container] },
  });
  await bench.setPodStatus(pod, running(ip));
  return pod;
};

describe('the controllers', () => {
  beforeEach(async () => {
    bench = await createWorkloadBench();
    await bench.make(RESOURCE.nodes, 'n', { metadata: { labels: { [LABEL.topologyZone]: 'z' } } });
  });
  afterEach(async () => bench.close());

  test('keep Endpoints with ready and unready pods, and delete them with the Service', async () => {
    bench.run(
      async (context, signal) => runEndpoints(context, signal, { batchMs: 0 }),
      'endpoint-controller',
    );
    await bench.make(RESOURCE.services, 'web', SERVICE);
    const pod = await makePod('a', '10.0.0.1');
    const { subsets, metadata } = await bench.whenObject(
      RESOURCE.endpoints,
      'web',
      (endpoints) => endpoints.subsets?.[0]?.addresses !== undefined,
    );
    expect(subsets).toEqual([
      {
        addresses: [
          {
            ip: '10.0.0.1',
            nodeName: 'n',
            targetRef: { kind: 'Pod', namespace: 'default', name: 'a', uid: pod.metadata.uid },
          },
        ],
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ]);
    expect(metadata.labels).toHaveProperty([WORKLOAD_LABEL.endpointsManagedBy], 'endpoint-controller');
    await bench.setPodStatus(pod, { ...running('10.0.0.1'), conditions: [] });
    await bench.whenObject(
      RESOURCE.endpoints,
      'web',
      (endpoints) => endpoints.subsets?.[0]?.notReadyAddresses?.length === 1,
    );
    await bench.remove(RESOURCE.services, 'web');
    await bench.whenList(RESOURCE.endpoints, 'no Endpoints', (all) => all.length === 0);
  });

  test('leave Endpoints of a Service without a selector alone', async () => {
    bench.run(
      async (context, signal) => runEndpoints(context, signal, { batchMs: 0 }),
      'endpoint-controller',
    );
    await bench.make(RESOURCE.services, 'own', {
      spec: { ports: [{ port: 80, targetPort: 80, protocol: 'TCP' }] },
    });
    const subsets = [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80, protocol: 'TCP' }] }];
    await bench.make(RESOURCE.endpoints, 'own', { subsets });
    await bench.make(RESOURCE.services, 'web', SERVICE);
    await bench.whenObject(RESOURCE.endpoints, 'web', () => true);
    expect((await bench.read(RESOURCE.endpoints, 'own')).subsets).toEqual(subsets);
  });

  test('keep slices with the conditions, node and zone of each pod', async () => {
    bench.run(
      async (context, signal) => runEndpointSlices(context, signal, { batchMs: 0 }),
      'endpointslice-controller',
      { maxEndpointsPerSlice: 2 },
    );
    const service = await bench.make(RESOURCE.services, 'web', SERVICE);
    const pod = await makePod('a', '10.0.0.1');
    await makePod('b', '10.0.0.2');
    await makePod('c', '10.0.0.3');
    const count = (slices: readonly EndpointSlice[]): number =>
      slices.reduce(
        (sum, { endpoints }) => sum + (endpoints ?? []).filter(({ conditions }) => conditions.ready).length,
        0,
      );
    const slices = await bench.whenList(
      RESOURCE.endpointslices,
      'three endpoints',
      (all) => count(all) === 3,
    );
    expect(slices).toHaveLength(2);
    const found = slices
      .flatMap(({ endpoints }) => endpoints ?? [])
      .find(({ targetRef }) => targetRef?.name === 'a');
    expect(found).toEqual({
      addresses: ['10.0.0.1'],
      conditions: { ready: true, serving: true, terminating: false },
      targetRef: { kind: 'Pod', namespace: 'default', name: 'a', uid: pod.metadata.uid },
      nodeName: 'n',
      zone: 'z',
    });
    expect(slices[0]).toMatchObject({
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      metadata: {
        generateName: 'web-',
        labels: {
          [WORKLOAD_LABEL.serviceName]: 'web',
          [WORKLOAD_LABEL.sliceManagedBy]: ENDPOINTSLICE_MANAGER,
        },
        ownerReferences: [expect.objectContaining({ kind: 'Service', uid: service.metadata.uid })],
      },
    });
    for (const name of ['a', 'b', 'c']) await bench.remove(RESOURCE.pods, name, { gracePeriodSeconds: 0 });
    const [placeholder] = await bench.whenList(
      RESOURCE.endpointslices,
      'one empty slice',
      (all) => all.length === 1 && (all[0]?.endpoints ?? []).length === 0,
    );
    expect(placeholder?.addressType).toBe('IPv4');
  });
});

const endpoint = (name: string, ready = true): Endpoint => ({
  addresses: [name],
  conditions: { ready },
  targetRef: { uid: name },
});
const slice = (name: string, ...members: readonly string[]): EndpointSlice => ({
  metadata: { name },
  addressType: 'IPv4',
  ports: [],
  endpoints: members.map((each) => endpoint(each)),
});
const wanted = (...members: readonly string[]) => ({
  addressType: 'IPv4',
  ports: [],
  endpoints: members.map((each) => endpoint(each)),
});

test.each([
  ['nothing to do', ['a', 'b'], [['a', 'b']], { create: [], update: [], remove: [] }],
  ['a new slice', ['a', 'b', 'c', 'd'], [['a', 'b', 'c']], { create: [['d']], update: [], remove: [] }],
  ['room in a slice', ['a', 'b', 'c'], [['a', 'b']], { create: [], update: [['a', 'b', 'c']], remove: [] }],
  [
    'the fullest slice with room',
    ['a', 'b', 'c', 'd'],
    [['a'], ['b', 'c']],
    { create: [], update: [['b', 'c', 'd']], remove: [] },
  ],
  [
    'a slice that changes anyway',
    ['a', 'x'],
    [['a', 'b'], []],
    { create: [], update: [['a', 'x']], remove: ['s1'] },
  ],
  ['an empty slice removed', ['a'], [['a'], ['b']], { create: [], update: [], remove: ['s1'] }],
  ['a placeholder kept', [], [['a']], { create: [], update: [[]], remove: [] }],
  ['a placeholder made', [], [], { create: [[]], update: [], remove: [] }],
])('slices: %s', (_what, members, existing, expected) => {
  const slices = existing.map((each, index) => slice(`s${String(index)}`, ...each));
  const plan = planSlices([wanted(...members)], slices, 3);
  const names = (endpoints: readonly Endpoint[]): readonly string[] =>
    endpoints.flatMap(({ addresses }) => addresses ?? []);
  expect({
    create: plan.create.map(({ endpoints }) => names(endpoints)),
    update: plan.update.map(({ endpoints }) => names(endpoints)),
    remove: plan.remove.map(({ metadata }) => metadata.name),
  }).toEqual(expected);
});

test('a change of an endpoint updates its slice', () => {
  const group = { ...wanted('a'), endpoints: [endpoint('a', false)] };
  expect(planSlices([group], [slice('s', 'a')], 3).update).toHaveLength(1);
});

test.each([
  [8080, 8080],
  ['http', 8080],
  ['other', undefined],
])('the target port %s is %s', (targetPort, port) => {
  const pod: Pod = { metadata: {}, spec: { containers: [container] } };
  expect(targetPortOf(pod, { port: 80, targetPort, protocol: 'TCP' })).toBe(port);
});

test('Endpoints of a dual-stack Service have the first family, and at most 1,000 addresses', () => {
  const service: Service = {
    metadata: { name: 'web', namespace: 'default' },
    spec: { ...SERVICE.spec, clusterIP: 'fd00::1', ipFamilies: ['IPv6', 'IPv4'] },
  };
  const pods = Array.from({ length: 1_001 }, (_each, index): Pod => ({
    metadata: { name: `p${String(index)}`, namespace: 'default', uid: String(index) },
    spec: { containers: [container] },
    status: {
      ...running('10.0.0.1', `fd00::${index.toString(16)}`),
      conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }],
    },
  }));
  const { metadata, subsets } = endpointsOf(service, pods, undefined);
  expect(subsets?.[0]?.addresses).toHaveLength(1_000);
  expect(subsets?.[0]?.addresses?.every(({ ip }) => ip.startsWith('fd00'))).toBe(true);
  expect(Object.values(metadata.annotations ?? {})).toEqual(['truncated']);
});
