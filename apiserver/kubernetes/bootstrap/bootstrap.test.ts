import { API_SERVER_MANAGER, API_SERVICE_NAME, GROUP } from '../../../shared/names';
import { silentLog } from '../../../shared/log/log';
import { patience } from '../../../shared/testing/eventually';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import type { ApiService } from './api-service';
import { createApiService } from './api-service';
import { createFirstObjects } from './first-objects';
import { LiveReplicas } from './live-replicas';

const SERVICE = `/api/v1/namespaces/default/services/${API_SERVICE_NAME}`;
const ENDPOINTS = `/api/v1/namespaces/default/endpoints/${API_SERVICE_NAME}`;
const SLICE = `/apis/${GROUP.discovery}/v1/namespaces/default/endpointslices/${API_SERVICE_NAME}`;

let api: InProcessApi;

beforeEach(async () => {
  api = await startInProcessApi();
});

afterEach(async () => {
  await api.close();
});

function replica(ip: string, port = 6443): ApiService {
  const { store, registry, serviceAllocation } = api.plane;
  return createApiService({
    store,
    registry,
    replicas: new LiveReplicas(api.backend, '/registry'),
    self: { ip, port },
    serviceAddress: serviceAllocation.firstAddress,
    log: silentLog,
  });
}

test('the Service of the API has the first address of the range, which no other Service can get', async () => {
  await replica('192.0.2.1').reconcile(patience());
  const { json } = await api.call('GET', SERVICE);
  expect(json.spec).toMatchObject({
    clusterIP: '10.0.0.1',
    ports: [{ name: 'https', port: 443, targetPort: 6443 }],
  });
  const body = { metadata: { name: 'thief' }, spec: { clusterIP: '10.0.0.1', ports: [{ port: 1 }] } };
  expect((await api.call('POST', '/api/v1/namespaces/default/services', { body })).code).toBe(422);
});

test('the server has its own manager name in the objects that it writes', async () => {
  await replica('192.0.2.1').reconcile(patience());
  const owners = async (path: string): Promise<unknown> => {
    const { json } = await api.call('GET', path);
    const entries: readonly { manager: string; fieldsV1: unknown }[] = json.metadata.managedFields;
    return entries.map(({ manager, fieldsV1 }) => [manager, fieldsV1]);
  };
  const labels = { 'f:metadata': { 'f:labels': { '.': {}, 'f:component': {}, 'f:provider': {} } } };
  const port = { '.': {}, 'f:name': {}, 'f:port': {}, 'f:protocol': {}, 'f:targetPort': {} };
  const spec = {
    'f:clusterIP': {},
    'f:ipFamilyPolicy': {},
    'f:ports': { '.': {}, 'k:{"port":443,"protocol":"TCP"}': port },
    'f:sessionAffinity': {},
    'f:type': {},
  };
  expect(await owners(SERVICE)).toEqual([[API_SERVER_MANAGER, { ...labels, 'f:spec': spec }]]);
  expect(await owners('/api/v1/namespaces/default')).toMatchObject([[API_SERVER_MANAGER, {}]]);
  expect(await owners(ENDPOINTS)).toMatchObject([[API_SERVER_MANAGER, { 'f:subsets': {} }]]);
});

test('Endpoints and their slice contain all live replicas, and a stopping replica removes itself', async () => {
  const [one, two] = [replica('192.0.2.2'), replica('192.0.2.1')];
  await one.reconcile(patience());
  await two.reconcile(patience());
  const both = await api.call('GET', ENDPOINTS);
  expect(both.json.subsets).toEqual([
    {
      addresses: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }],
      ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
    },
  ]);
  const slice = await api.call('GET', SLICE);
  expect(slice.json.endpoints.map(({ addresses }: { addresses: string[] }) => addresses)).toEqual([
    ['192.0.2.1'],
    ['192.0.2.2'],
  ]);
  await one.withdraw(patience());
  expect((await api.call('GET', ENDPOINTS)).json.subsets[0].addresses).toEqual([{ ip: '192.0.2.1' }]);
});

test('the last replica leaves the Endpoints unchanged', async () => {
  const only = replica('192.0.2.1');
  await only.reconcile(patience());
  await only.withdraw(patience());
  expect((await api.call('GET', ENDPOINTS)).json.subsets[0].addresses).toEqual([{ ip: '192.0.2.1' }]);
});

test('changed Endpoints are restored, and correct ones are not written again', async () => {
  const only = replica('192.0.2.1');
  await only.reconcile(patience());
  await api.call('PATCH', ENDPOINTS, { body: { subsets: null, metadata: { labels: { mine: 'x' } } } });
  await only.reconcile(patience());
  const { json } = await api.call('GET', ENDPOINTS);
  expect(json.subsets[0].addresses).toEqual([{ ip: '192.0.2.1' }]);
  expect(json.metadata.labels).toMatchObject({ mine: 'x' });
  await only.reconcile(patience());
  expect((await api.call('GET', ENDPOINTS)).json.metadata.resourceVersion).toBe(
    json.metadata.resourceVersion,
  );
});

test('a loopback address is never added to the Endpoints', async () => {
  await replica('127.0.0.1').reconcile(patience());
  expect((await api.call('GET', SERVICE)).code).toBe(200);
  expect((await api.call('GET', ENDPOINTS)).code).toBe(404);
});

test('the record of a replica expires when the replica stops renewing it', async () => {
  const ttls: (number | undefined)[] = [];
  const create = api.backend.create.bind(api.backend);
  api.backend.create = async (key, value, options, signal) => {
    if (key.includes('.replicas/')) ttls.push(options.ttlSeconds);
    return create(key, value, options, signal);
  };
  await replica('192.0.2.1').reconcile(patience());
  expect(ttls).toEqual([15]);
});

test('first objects are created once, are valid for their kinds, and keep later changes', async () => {
  const { store, registry } = api.plane;
  await createFirstObjects(store, registry(), patience());
  const classes = `/apis/${GROUP.scheduling}/v1/priorityclasses`;
  const critical = await api.call('GET', `${classes}/system-node-critical`);
  expect(critical.json.value).toBe(2_000_001_000);
  await api.call('PATCH', `${classes}/system-node-critical`, {
    body: { metadata: { labels: { mine: 'x' } } },
  });
  const changed = await api.call('GET', `${classes}/system-node-critical`);
  await createFirstObjects(store, registry(), patience());
  expect((await api.call('GET', `${classes}/system-node-critical`)).json).toEqual(changed.json);
  const kept = await api.call('DELETE', `${classes}/system-node-critical`);
  expect([kept.code, kept.json.message]).toEqual([
    403,
    `priorityclasses.${GROUP.scheduling} "system-node-critical" is forbidden: this is a system priority class and cannot be deleted`,
  ]);
});
