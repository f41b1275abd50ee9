import { LABEL } from '../../../shared/names';
import { FaultyMemoryBackend } from '../../engine/storage/testing/faulty-memory-backend';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { serviceRanges, startInProcessApi } from '../../testing/in-process-api';
import type { FieldGate } from './field-gates';
import { isOnByDefault } from '../../../shared/flags/feature-gate-table';
import { FIELD_GATES } from './field-gates';
import { causesOf } from '../../testing/kinds/refusals';

/** Gates that decide about labels, rules and addresses, and not only whether a field is kept. */

const SPACES = '/api/v1/namespaces';
const PODS = `${SPACES}/default/pods`;
const TEMPLATES = `${SPACES}/default/podtemplates`;
const SERVICES = `${SPACES}/default/services`;

const started: InProcessApi[] = [];

afterEach(async () => {
  for (const each of started.splice(0)) await each.close();
});

/** A server with v1.21's gates but for these. */
async function start(
  switched: Partial<Record<FieldGate, boolean>>,
  { backend = new FaultyMemoryBackend(), networks = '10.0.0.0/24' } = {},
): Promise<InProcessApi> {
  const gates = new Set(FIELD_GATES.filter((gate) => switched[gate] ?? isOnByDefault(gate)));
  const api = await startInProcessApi(backend, {
    ranges: serviceRanges(networks),
    kindSettings: { allowPrivileged: false, ephemeralContainers: false, gates },
  });
  started.push(api);
  return api;
}

async function made(api: InProcessApi, url: string, body: object): Promise<Reply['json']> {
  const { code, json } = await api.call('POST', url, { body });
  expect([code, json.message]).toEqual([201, undefined]);
  return json;
}

describe('NamespaceDefaultLabelName', () => {
  test.each<readonly [isOn: boolean, label: string | undefined, own: string | undefined]>([
    [true, 'x', 'y'],
    [false, undefined, 'mine'],
  ])('on: %p, a namespace has its name as a label: %p', async (isOn, label, own) => {
    const api = await start({ NamespaceDefaultLabelName: isOn });
    const first = await made(api, SPACES, { metadata: { name: 'x' } });
    expect(first.metadata.labels?.[LABEL.metadataName]).toBe(label);
    const second = await made(api, SPACES, {
      metadata: { name: 'y', labels: { [LABEL.metadataName]: 'mine' } },
    });
    expect(second.metadata.labels[LABEL.metadataName]).toBe(own);
    const { json } = await api.call('PUT', `${SPACES}/y`, {
      body: { ...second, metadata: { ...second.metadata, labels: { a: 'b' } } },
    });
    expect(json.metadata.labels[LABEL.metadataName]).toBe(isOn ? 'y' : undefined);
    const third = await made(api, SPACES, { metadata: { generateName: 'z' } });
    expect(third.metadata.labels?.[LABEL.metadataName]).toBe(isOn ? third.metadata.name : undefined);
  });
});

const podWith = (container: object, more: object = {}): object => ({
  metadata: { name: 'x' },
  spec: { containers: [{ name: 'c', image: 'i', ...container }], ...more },
});

describe('HugePageStorageMediumSize', () => {
  const limits = { cpu: '1', 'hugepages-2Mi': '2Mi', 'hugepages-1Gi': '1Gi' };
  const several = podWith({ resources: { limits } });

  test('on, a pod has several sizes of huge pages, and keeps them when it is off', async () => {
    const backend = new FaultyMemoryBackend();
    const pod = await made(await start({}, { backend }), PODS, several);
    const api = await start({ HugePageStorageMediumSize: false }, { backend });
    const body = { ...pod, metadata: { ...pod.metadata, labels: { a: 'b' } } };
    expect((await api.call('PUT', `${PODS}/x`, { body })).code).toBe(200);
  });

  test('off, a new pod has one at most, and templates have any number', async () => {
    const api = await start({ HugePageStorageMediumSize: false });
    const reply = await api.call('POST', PODS, { body: several });
    expect(causesOf(reply)).toEqual(['Invalid spec']);
    expect(reply.json.message).toContain('must use a single hugepage size in a pod spec');
    const one = { resources: { limits: { cpu: '1', 'hugepages-2Mi': '2Mi' } } };
    await made(api, PODS, podWith(one, { initContainers: [{ name: 'd', image: 'i' }] }));
    await made(api, TEMPLATES, { metadata: { name: 't' }, template: several });
  });
});

describe('DownwardAPIHugePages', () => {
  const resourceFieldRef = { resource: 'limits.hugepages-2Mi' };
  const inFile = { resourceFieldRef: { ...resourceFieldRef, containerName: 'c' }, path: 'p' };
  const shown = podWith(
    { env: [{ name: 'A', valueFrom: { resourceFieldRef } }] },
    { volumes: [{ name: 'v', downwardAPI: { items: [inFile] } }] },
  );

  test('off, as it is by default, pods and templates show no huge pages', async () => {
    const api = await start({});
    const places = [
      'spec.containers[0].env[0].valueFrom.resourceFieldRef.resource',
      'spec.volumes[0].downwardAPI.resourceFieldRef.resource',
    ];
    expect(causesOf(await api.call('POST', PODS, { body: shown }))).toEqual(
      places.map((place) => `NotSupported ${place}`),
    );
    const template = { metadata: { name: 't' }, template: shown };
    expect(causesOf(await api.call('POST', TEMPLATES, { body: template }))).toEqual(
      places.map((place) => `NotSupported template.${place}`),
    );
  });

  test('on, they do, and go on doing so when it is off', async () => {
    const backend = new FaultyMemoryBackend();
    const before = await start({ DownwardAPIHugePages: true }, { backend });
    const template = await made(before, TEMPLATES, { metadata: { name: 't' }, template: shown });
    await made(before, PODS, shown);
    // Other resources are as wrong as they were.
    const odd = podWith({
      env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.odd' } } }],
    });
    expect((await before.call('POST', PODS, { body: odd })).code).toBe(422);
    const after = await start({}, { backend });
    const body = { ...template, metadata: { ...template.metadata, labels: { a: 'b' } } };
    expect((await after.call('PUT', `${TEMPLATES}/t`, { body })).code).toBe(200);
    const added = { ...body, template: podWith({}) };
    expect(
      (await after.call('PUT', `${TEMPLATES}/t`, { body: { ...added, metadata: { name: 't' } } })).code,
    ).toBe(200);
    expect(
      (await after.call('PUT', `${TEMPLATES}/t`, { body: { ...body, metadata: { name: 't' } } })).code,
    ).toBe(422);
  });
});

describe('IPv6DualStack', () => {
  const DUAL = '10.0.0.0/24,fd00::/112';
  const ports = [{ port: 80 }];

  test('off, a Service has one address, and says nothing of families', async () => {
    const api = await start({ IPv6DualStack: false });
    const asked = { ports, ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] };
    const { spec } = await made(api, SERVICES, { metadata: { name: 'x' }, spec: asked });
    expect([spec.ipFamilies, spec.ipFamilyPolicy]).toEqual([undefined, undefined]);
    expect(spec.clusterIP).toMatch(/^10\.0\.0\./);
    expect(spec.clusterIPs).toEqual([spec.clusterIP]);
    // The first Service has a random address.
    const free = spec.clusterIP === '10.0.0.77' ? '10.0.0.78' : '10.0.0.77';
    const second = { ports, clusterIP: free, clusterIPs: [free, 'fd00::1'] };
    const given = await made(api, SERVICES, { metadata: { name: 'y' }, spec: second });
    expect(given.spec.clusterIPs).toEqual([free]);
    const headless = { ports, clusterIP: 'None', selector: {} };
    const other = await made(api, SERVICES, { metadata: { name: 'z' }, spec: headless });
    expect([other.spec.clusterIPs, other.spec.ipFamilies]).toEqual([['None'], undefined]);
  });

  test('off, a Service becomes one with an address and one without, and stays as it is', async () => {
    const api = await start({ IPv6DualStack: false });
    await made(api, SERVICES, {
      metadata: { name: 'x' },
      spec: { type: 'ExternalName', externalName: 'a.b' },
    });
    const patch = async (spec: object): Promise<Reply['json']> =>
      (await api.call('PATCH', `${SERVICES}/x`, { body: { spec } })).json.spec;
    const { clusterIP, clusterIPs } = await patch({ type: 'ClusterIP', externalName: null, ports });
    expect([clusterIP, clusterIPs]).toEqual([expect.stringMatching(/^10\.0\.0\./), [clusterIP]]);
    expect(await patch({ sessionAffinity: 'ClientIP' })).toMatchObject({ clusterIP, clusterIPs });
    expect(await patch({ type: 'ExternalName', externalName: 'a.b' })).not.toHaveProperty('clusterIPs');
  });

  test('what had families while it was on keeps them', async () => {
    const backend = new FaultyMemoryBackend();
    const before = await start({}, { backend, networks: DUAL });
    const spec = { ports, ipFamilyPolicy: 'PreferDualStack' };
    const had = await made(before, SERVICES, { metadata: { name: 'x' }, spec });
    expect(had.spec.clusterIPs).toHaveLength(2);
    const after = await start({ IPv6DualStack: false }, { backend });
    const { code, json } = await after.call('PUT', `${SERVICES}/x`, {
      body: { ...had, metadata: { ...had.metadata, labels: { a: 'b' } } },
    });
    expect([code, json.spec]).toEqual([200, had.spec]);
  });

  test('off, a node has one network for its pods, unless it has had two', async () => {
    const networks = ['10.1.0.0/24', 'fd01::/64'];
    const backend = new FaultyMemoryBackend();
    const before = await start({}, { backend });
    const node = { spec: { podCIDR: networks[0], podCIDRs: networks } };
    const had = await made(before, '/api/v1/nodes', { metadata: { name: 'old' }, ...node });
    const after = await start({ IPv6DualStack: false }, { backend });
    const made2 = await made(after, '/api/v1/nodes', { metadata: { name: 'new' }, ...node });
    expect([had.spec.podCIDRs, made2.spec.podCIDRs]).toEqual([networks, networks.slice(0, 1)]);
    const body = { ...had, metadata: { ...had.metadata, labels: { a: 'b' } } };
    expect((await after.call('PUT', '/api/v1/nodes/old', { body })).json.spec.podCIDRs).toEqual(networks);
  });
});
