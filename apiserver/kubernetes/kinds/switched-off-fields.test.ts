import { GROUP, LABEL } from '../../../shared/names';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { causesOf } from '../../testing/kinds/refusals';

const OLD_SLICES = `/apis/${GROUP.discovery}/v1beta1/namespaces/default/endpointslices`;
const SLICES = `/apis/${GROUP.discovery}/v1/namespaces/default/endpointslices`;
const CLASSES = `/apis/${GROUP.networking}/v1/ingressclasses`;
const POLICIES = '/apis/policy/v1beta1/podsecuritypolicies';
const FLOWCONTROL = `/apis/${GROUP.flowcontrol}/v1beta1`;
const VERSIONS = `/apis/${GROUP.apiserverinternal}/v1alpha1/storageversions`;

let api: InProcessApi;

beforeEach(async () => {
  api = await startInProcessApi(undefined, { runtimeConfig: new Map([['api/all', true]]) });
});
afterEach(async () => {
  await api.close();
});

async function created(url: string, body: object): ReturnType<InProcessApi['call']> {
  const reply = await api.call('POST', url, { body });
  expect([reply.code, reply.json.message]).toEqual([201, undefined]);
  return reply;
}

test('an object of the whole cluster loses the namespace that an update gives it', async () => {
  const { json } = await created(CLASSES, { metadata: { name: 'c' }, spec: { controller: 'example.com/c' } });
  const metadata = { ...json.metadata, namespace: 'default', labels: { a: 'b' } };
  const put = await api.call('PUT', `${CLASSES}/c`, { body: { ...json, metadata } });
  expect([put.code, put.json.metadata.namespace]).toEqual([200, undefined]);
  const patched = await api.call('PATCH', `${CLASSES}/c`, { body: { metadata: { namespace: 'x' } } });
  expect([patched.code, patched.json.metadata.namespace]).toEqual([200, undefined]);
});

test('the Jobs of a CronJob keep what a Job of its own would lose', async () => {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  const spec = { suspend: true, completionMode: 'Indexed', completions: 3, template };
  const { json } = await created('/apis/batch/v1/namespaces/default/cronjobs', {
    metadata: { name: 'c' },
    spec: { schedule: '* * * * *', jobTemplate: { spec } },
  });
  expect(json.spec.jobTemplate.spec).toMatchObject({ suspend: true, completionMode: 'Indexed' });
});

test('an account keeps the names of its secrets alone', async () => {
  const url = '/api/v1/namespaces/default/serviceaccounts';
  const secrets = [{ name: 's', uid: 'u', kind: 'Secret' }];
  const { json } = await created(url, { metadata: { name: 'a' }, secrets });
  expect(json.secrets).toEqual([{ name: 's' }]);
  const put = await api.call('PUT', `${url}/a`, { body: { metadata: { name: 'a' }, secrets } });
  expect(put.json.secrets).toEqual([{ name: 's' }]);
});

test('the surge of a DaemonSet is 0, also where its updates are not rolling', async () => {
  const url = '/apis/apps/v1/namespaces/default/daemonsets';
  const labels = { a: 'b' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const stored = async (name: string, updateStrategy: object): Promise<unknown> => {
    const spec = { selector: { matchLabels: labels }, template, updateStrategy };
    return (await created(url, { metadata: { name }, spec })).json.spec.updateStrategy as unknown;
  };
  const type = 'RollingUpdate';
  expect(await stored('d1', {})).toEqual({ type, rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } });
  expect(await stored('d2', { rollingUpdate: { maxSurge: 2, maxUnavailable: '5%' } })).toEqual({
    type,
    rollingUpdate: { maxUnavailable: '5%', maxSurge: 0 },
  });
  expect(await stored('d3', { type: 'OnDelete', rollingUpdate: {} })).toEqual({
    type: 'OnDelete',
    rollingUpdate: { maxUnavailable: 0, maxSurge: 0 },
  });
  expect(await stored('d4', { type: 'OnDelete' })).toEqual({ type: 'OnDelete' });
});

test('the status of a Service keeps what it says of the ports of its load balancer', async () => {
  const url = '/api/v1/namespaces/default/services';
  await created(url, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } });
  const ingress = [{ ip: '192.0.2.1', ports: [{ port: 80, protocol: 'TCP' }] }];
  const conditions = [{ type: 'T', status: 'True', reason: 'R', message: '', lastTransitionTime: null }];
  const body = { status: { loadBalancer: { ingress }, conditions } };
  const { json } = await api.call('PATCH', `${url}/s/status`, { body });
  expect(json.status).toEqual(body.status);
});

describe('a slice of endpoints', () => {
  const slice = (endpoint: object): object => ({
    metadata: { name: 's' },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'], ...endpoint }],
  });

  test('loses hints and the states of endpoints that end', async () => {
    const body = slice({
      conditions: { ready: true, serving: true, terminating: true },
      hints: { forZones: [{ name: 'z' }] },
    });
    const { json } = await created(SLICES, body);
    expect(json.endpoints).toEqual([{ addresses: ['192.0.2.1'], conditions: { ready: true } }]);
    const put = await api.call('PUT', `${SLICES}/s`, { body });
    expect(put.json.endpoints).toEqual(json.endpoints);
    // What is dropped counts as a change of what is wanted, as upstream.
    expect(put.json.metadata.generation).toBe(2);
  });

  test('does not take a topology through v1, where the node has a field of its own', async () => {
    const topology = { [LABEL.hostname]: 'n1', rack: 'r' };
    const { json } = await created(SLICES, slice({ deprecatedTopology: topology }));
    expect(json.endpoints[0]).not.toHaveProperty('deprecatedTopology');
    expect(json.endpoints[0]).not.toHaveProperty('nodeName');
  });

  test('keeps the topology of v1beta1 until its endpoints change, and then the name of the node', async () => {
    const topology = { [LABEL.hostname]: 'n1', rack: 'r' };
    await created(OLD_SLICES, slice({ topology }));
    const labeled = await api.call('PATCH', `${SLICES}/s`, { body: { metadata: { labels: { a: 'b' } } } });
    expect(labeled.json.endpoints[0].deprecatedTopology).toEqual(topology);
    const moved = { ...labeled.json.endpoints[0], addresses: ['192.0.2.2'] };
    const changed = await api.call('PATCH', `${SLICES}/s`, { body: { endpoints: [moved] } });
    expect(changed.json.endpoints[0]).toMatchObject({ addresses: ['192.0.2.2'], nodeName: 'n1' });
    expect(changed.json.endpoints[0]).not.toHaveProperty('deprecatedTopology');
  });
});

test('a Service loses what belongs to features that are off, but what its status says of it', async () => {
  const url = '/api/v1/namespaces/default/services';
  const { json } = await created(url, {
    metadata: { name: 's' },
    spec: {
      type: 'LoadBalancer',
      ports: [{ port: 80 }],
      allocateLoadBalancerNodePorts: false,
      internalTrafficPolicy: 'Local',
      loadBalancerClass: 'example.com/c',
      topologyKeys: ['*'],
    },
  });
  for (const field of [
    'allocateLoadBalancerNodePorts',
    'internalTrafficPolicy',
    'loadBalancerClass',
    'topologyKeys',
  ]) {
    expect(json.spec).not.toHaveProperty(field);
  }
  expect(json.spec.ports[0].nodePort).toBeGreaterThan(0);
  const ingress = [{ ip: '192.0.2.1', ports: [{ port: 80, protocol: 'TCP' }] }];
  const time = '2021-01-02T03:04:05Z';
  const condition = { type: 'A', status: 'True', reason: 'R', message: '', lastTransitionTime: time };
  const status = { loadBalancer: { ingress }, conditions: [condition] };
  const changed = await api.call('PATCH', `${url}/s/status`, { body: { status } });
  expect(changed.json.status).toEqual({ loadBalancer: { ingress }, conditions: [condition] });
});

test('an ingress class loses the scope of its parameters', async () => {
  const parameters = { kind: 'K', name: 'n' };
  const body = {
    metadata: { name: 'c' },
    spec: {
      controller: 'example.com/c',
      parameters: { ...parameters, scope: 'Namespace', namespace: 'default' },
    },
  };
  const { json } = await created(CLASSES, body);
  expect(json.spec.parameters).toMatchObject(parameters);
  expect(json.spec.parameters.scope ?? null).toBeNull();
  expect(json.spec.parameters).not.toHaveProperty('namespace');
  const same = await api.call('PUT', `${CLASSES}/c`, { body: json });
  expect(same.json.metadata).toMatchObject({
    generation: 1,
    resourceVersion: json.metadata.resourceVersion as string,
  });
  // What is about to be dropped counts as a change.
  const again = await api.call('PUT', `${CLASSES}/c`, { body });
  expect([again.json.metadata.generation, again.json.spec]).toEqual([2, json.spec]);
});

test('a security policy loses its types of mounts of /proc', async () => {
  const any = { rule: 'RunAsAny' };
  const spec = { seLinux: any, runAsUser: any, supplementalGroups: any, fsGroup: any };
  const { json } = await created(POLICIES, {
    metadata: { name: 'p' },
    spec: { ...spec, allowedProcMountTypes: ['Unmasked'] },
  });
  expect(json.spec).not.toHaveProperty('allowedProcMountTypes');
});

describe('flow control', () => {
  const exempt = { type: 'Exempt' };

  test('what the server relies on cannot be otherwise', async () => {
    await created(`${FLOWCONTROL}/prioritylevelconfigurations`, {
      metadata: { name: 'exempt' },
      spec: exempt,
    });
    const limited = { assuredConcurrencyShares: 9, limitResponse: { type: 'Reject' } };
    const level = { metadata: { name: 'catch-all' }, spec: { type: 'Limited', limited } };
    const reply = await api.call('POST', `${FLOWCONTROL}/prioritylevelconfigurations`, { body: level });
    expect(causesOf(reply)).toEqual(['Invalid spec']);
    const schema = {
      metadata: { name: 'catch-all' },
      spec: { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 10_000 },
    };
    const refused = await api.call('POST', `${FLOWCONTROL}/flowschemas`, { body: schema });
    expect(causesOf(refused)).toEqual(['Invalid spec']);
  });

  test('conditions are named, and once', async () => {
    const url = `${FLOWCONTROL}/flowschemas`;
    const spec = { priorityLevelConfiguration: { name: 'x' } };
    await created(url, { metadata: { name: 'f' }, spec });
    const conditions = [{ type: 'A' }, { type: 'A' }, { type: '' }];
    const reply = await api.call('PATCH', `${url}/f/status`, { body: { status: { conditions } } });
    expect(causesOf(reply)).toEqual([
      'Duplicate status.conditions[1].type',
      'Required status.conditions[2].type',
    ]);
  });
});

test('a storage version has each condition once, under a proper name', async () => {
  await created(VERSIONS, { metadata: { name: 'example.com.things' }, spec: {} });
  const good = { type: 'A', status: 'True', reason: 'R', message: 'm' };
  const conditions = [good, good, { ...good, type: 'a b' }, { ...good, type: 'B', reason: '' }];
  const url = `${VERSIONS}/example.com.things/status`;
  const reply = await api.call('PATCH', url, { body: { status: { conditions } } });
  expect(causesOf(reply)).toEqual([
    'Invalid status[1].type',
    'Invalid status[2].type',
    'Required status[3].reason',
  ]);
});

test('of a change, a version of storage is asked neither for domains nor for what its name was made from', async () => {
  await created(VERSIONS, { metadata: { name: 'example.com.things' }, spec: {} });
  const metadata = { generateName: 'no-dot', finalizers: ['plain'] };
  const url = `${VERSIONS}/example.com.things`;
  expect((await api.call('PATCH', url, { body: { metadata } })).code).toBe(200);
  const causes = causesOf(await api.call('POST', VERSIONS, { body: { metadata, spec: {} } }));
  expect(causes).toContain('Invalid metadata.finalizers[0]');
});

test('a network policy loses ranges of ports, and keeps the port that they begin with', async () => {
  const url = `/apis/${GROUP.networking}/v1/namespaces/default/networkpolicies`;
  const ports = [{ protocol: 'TCP', port: 5, endPort: 9 }];
  const spec = { podSelector: {}, ingress: [{ ports }], egress: [{ ports }] };
  const { json } = await created(url, { metadata: { name: 'n' }, spec });
  const kept = [{ ports: [{ protocol: 'TCP', port: 5 }] }];
  expect(json.spec).toMatchObject({ ingress: kept, egress: kept });
  expect(json.spec.ingress[0].ports[0]).not.toHaveProperty('endPort');
});
