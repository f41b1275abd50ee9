import { NEWEST_LEVEL } from '../../testing/kinds/newest-level';
import { isOnByDefault } from '../../../shared/flags/feature-gate-table';
import { ADDRESS_ALLOCATOR, API_SERVICE_NAME, GROUP, LABEL } from '../../../shared/names';
import { eventually } from '../../../shared/testing/eventually';
import { DEFAULT_KIND_SETTINGS } from '../../engine/registry/strategy';
import { FaultyMemoryBackend } from '../../engine/storage/testing/faulty-memory-backend';
import type { InProcessApi } from '../../testing/in-process-api';
import { serviceRanges, startInProcessApi } from '../../testing/in-process-api';
import { FIELD_GATES, SERVER_GATES } from '../kinds/field-gates';

const SERVICES = '/api/v1/namespaces/default/services';
const CIDRS = `/apis/${GROUP.networking}/v1/servicecidrs`;
const ADDRESSES = `/apis/${GROUP.networking}/v1/ipaddresses`;
/** Six addresses. */
const NETWORK = '10.0.0.0/29';

let backend: FaultyMemoryBackend;
let apis: InProcessApi[];
beforeEach(() => {
  backend = new FaultyMemoryBackend();
  apis = [];
});
afterEach(async () => {
  for (const api of apis) await api.close();
});

/** Starts a replica. Without objects, it allocates as one of an older level. */
async function start({ network = NETWORK, hasObjects = true } = {}): Promise<InProcessApi> {
  const gates = new Set(
    [...FIELD_GATES, ...SERVER_GATES].filter(
      (gate) => isOnByDefault(gate) && (hasObjects || gate !== 'MultiCIDRServiceAllocator'),
    ),
  );
  const api = await startInProcessApi(backend, {
    ranges: serviceRanges(network),
    kindSettings: { ...DEFAULT_KIND_SETTINGS, gates },
  });
  apis.push(api);
  return api;
}

async function createService(
  api: InProcessApi,
  name: string,
  spec: object = {},
): Promise<{ code: number; address: string }> {
  const body = { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } };
  const { code, json } = await api.call('POST', SERVICES, { body });
  return { code, address: json.spec?.clusterIP ?? '' };
}

async function addressNames(api: InProcessApi): Promise<readonly string[]> {
  const { json } = await api.call('GET', ADDRESSES);
  return json.items.map((each: { metadata: { name: string } }) => each.metadata.name);
}

/** Allocation reads the cache, which a consistent list brings up to date. */
async function freshen(api: InProcessApi): Promise<void> {
  await api.call('GET', CIDRS);
}

/** Creates a ServiceCIDR that its controller found to be ready. */
async function createCidr(api: InProcessApi, name: string, cidr: string): Promise<void> {
  const { code, json } = await api.call('POST', CIDRS, {
    body: { metadata: { name, finalizers: ['example.com/held'] }, spec: { cidrs: [cidr] } },
  });
  expect(code).toBe(201);
  const time = '2026-01-01T00:00:00Z';
  const conditions = [{ type: 'Ready', status: 'True', reason: 'r', message: '', lastTransitionTime: time }];
  const put = await api.call('PUT', `${CIDRS}/${name}/status`, { body: { ...json, status: { conditions } } });
  expect(put.code).toBe(200);
  await freshen(api);
}

test(`at ${NEWEST_LEVEL}, the networks of the flags are a ready ServiceCIDR, and Services have IPAddresses as long as they hold them`, async () => {
  const api = await start();
  expect((await api.call('GET', `${CIDRS}/${API_SERVICE_NAME}`)).json).toMatchObject({
    spec: { cidrs: [NETWORK] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const { address } = await createService(api, 'one');
  expect((await api.call('GET', `${ADDRESSES}/${address}`)).json).toMatchObject({
    metadata: { labels: { [LABEL.addressFamily]: 'IPv4', [LABEL.addressManager]: ADDRESS_ALLOCATOR } },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 'one' } },
  });
  const external = { type: 'ExternalName', externalName: 'example.com', clusterIP: null, clusterIPs: null };
  await api.call('PATCH', `${SERVICES}/one`, { body: { spec: external } });
  expect(await addressNames(api)).toEqual([]);
  expect((await createService(api, 'two', { clusterIP: address })).code).toBe(201);
  await api.call('DELETE', `${SERVICES}/two`);
  expect(await addressNames(api)).toEqual([]);
  expect((await createService(api, 'bad', { clusterIP: '10.0.0.2', ports: [] })).code).toBe(422);
  expect(await addressNames(api)).toEqual([]);
});

test('addresses come from every ready ServiceCIDR, and none from one that is being deleted', async () => {
  const api = await start();
  for (let at = 0; at < 6; at += 1) expect((await createService(api, `s${String(at)}`)).code).toBe(201);
  expect((await createService(api, 'full')).code).toBe(500);
  expect((await createService(api, 'outside', { clusterIP: '10.9.0.77' })).code).toBe(422);
  await createCidr(api, 'more', '10.9.0.0/16');
  expect((await createService(api, 'any')).address).toMatch(/^10\.9\./);
  expect(await createService(api, 'inside', { clusterIP: '10.9.0.77' })).toEqual({
    code: 201,
    address: '10.9.0.77',
  });
  await api.call('DELETE', `${CIDRS}/more`);
  await freshen(api);
  expect((await createService(api, 'late')).code).toBe(500);
  expect((await createService(api, 'outside', { clusterIP: '10.9.0.78' })).code).toBe(422);
  expect(await addressNames(api)).toHaveLength(8);
});

test('an IPAddress that a client made keeps its address from Services', async () => {
  const api = await start();
  const parentRef = { group: 'gateway.example.com', resource: 'gateways', name: 'g' };
  for (const name of ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5']) {
    expect(
      (await api.call('POST', ADDRESSES, { body: { metadata: { name }, spec: { parentRef } } })).code,
    ).toBe(201);
  }
  expect((await createService(api, 'one', { clusterIP: '10.0.0.3' })).code).toBe(422);
  expect((await createService(api, 'two')).address).toBe('10.0.0.6');
  expect((await createService(api, 'three')).code).toBe(500);
  await api.call('DELETE', `${ADDRESSES}/10.0.0.3`);
  expect((await createService(api, 'four')).address).toBe('10.0.0.3');
});

test('missing and wrong IPAddresses are repaired, and those of no Service are removed', async () => {
  const api = await start();
  const { address } = await createService(api, 'one');
  const first = (await api.call('GET', `${ADDRESSES}/${address}`)).json.metadata.uid;
  await api.call('DELETE', `${ADDRESSES}/${address}`);
  await eventually('made again', async () => {
    const { json } = await api.call('GET', `${ADDRESSES}/${address}`);
    return json.metadata?.uid !== undefined && json.metadata.uid !== first;
  });
  await api.call('PATCH', `${ADDRESSES}/${address}`, { body: { metadata: { labels: null } } });
  await eventually('labelled again', async () => {
    const { json } = await api.call('GET', `${ADDRESSES}/${address}`);
    return json.metadata.labels?.[LABEL.addressManager] === ADDRESS_ALLOCATOR;
  });
  const stray = { resource: 'gateways', name: 'g' };
  const labels = { [LABEL.addressManager]: ADDRESS_ALLOCATOR };
  const made = await api.call('POST', ADDRESSES, {
    body: { metadata: { name: '10.7.0.1', labels }, spec: { parentRef: stray } },
  });
  expect(made.code).toBe(201);
  await eventually('removed', async () => (await addressNames(api)).join() === address);
});

test('an IPv6 network of fifteen addresses gives all of them, and no other', async () => {
  const api = await start({ network: 'fd00::/124' });
  for (let at = 0; at < 15; at += 1) expect((await createService(api, `s${String(at)}`)).code).toBe(201);
  expect((await createService(api, 'full')).code).toBe(500);
});

test('the IPAddress of a Service that a replica without the objects deletes is removed', async () => {
  let aheadMs = 61_000;
  const now = Date.now.bind(Date);
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
  try {
    const old = await start({ hasObjects: false });
    const next = await start();
    await createService(next, 'one');
    const { address } = await createService(next, 'two');
    // After the longest write, both are looked at for the last time.
    aheadMs += 61_000;
    const { uid } = (await next.call('GET', `${ADDRESSES}/${address}`)).json.metadata;
    await next.call('DELETE', `${ADDRESSES}/${address}`);
    await eventually('made again', async () => {
      const { json } = await next.call('GET', `${ADDRESSES}/${address}`);
      return json.metadata?.uid !== undefined && json.metadata.uid !== uid;
    });
    expect((await old.call('DELETE', `${SERVICES}/one`)).code).toBe(200);
    await eventually('removed', async () => {
      aheadMs += 10_000;
      await next.call('PATCH', `${SERVICES}/two`, {
        body: { metadata: { labels: { at: String(aheadMs) } } },
      });
      return (await addressNames(next)).join() === address;
    });
  } finally {
    clock.mockRestore();
  }
});

test('replicas with and without the objects never give one address to two Services', async () => {
  const old = await start({ hasObjects: false });
  const before = await createService(old, 'before');
  const next = await start();
  await eventually('recorded', async () => (await addressNames(next)).join() === before.address);
  const made = [before];
  for (let at = 0; at < 5; at += 1)
    made.push(await createService(at % 2 === 0 ? old : next, `s${String(at)}`));
  expect(new Set(made.map(({ address }) => address)).size).toBe(6);
  for (const api of [old, next]) {
    expect((await createService(api, 'full')).code).toBe(500);
    expect((await createService(api, 'taken', { clusterIP: before.address })).code).toBe(422);
  }
  await eventually('all recorded', async () => (await addressNames(next)).length === 6);
  // Back at the old level, the address of a removed Service is free, and its object is removed later.
  await old.call('DELETE', `${SERVICES}/before`);
  expect((await createService(old, 'after', { clusterIP: before.address })).code).toBe(201);
  await eventually('of the new Service', async () => {
    const { json } = await next.call('GET', `${ADDRESSES}/${before.address}`);
    return json.spec?.parentRef.name === 'after';
  });
});

test('a Service outside every network gets its IPAddress when a ServiceCIDR with its address is added', async () => {
  const old = await start({ network: '10.9.0.0/24', hasObjects: false });
  const { address } = await createService(old, 'moved');
  const next = await start();
  // The repair of an address of its own shows that it has looked at all Services.
  const own = await createService(next, 'own');
  await next.call('DELETE', `${ADDRESSES}/${own.address}`);
  await eventually('made again', async () => (await addressNames(next)).includes(own.address));
  expect(await addressNames(next)).toEqual([own.address]);
  await createCidr(next, 'more', '10.9.0.0/16');
  await eventually('recorded', async () => (await addressNames(next)).includes(address));
});

test('a dry run shows the address of the network, and refuses an address outside all of them', async () => {
  const api = await start();
  const tryService = async (spec: object): Promise<readonly unknown[]> => {
    const body = { metadata: { name: 'dry' }, spec: { ports: [{ port: 80 }], ...spec } };
    const { code, json } = await api.call('POST', `${SERVICES}?dryRun=All`, { body });
    return [code, json.spec?.clusterIP, json.details?.causes?.[0].field];
  };
  expect(await tryService({})).toEqual([201, '10.0.0.0', undefined]);
  expect(await tryService({ clusterIP: '10.0.0.3' })).toEqual([201, '10.0.0.3', undefined]);
  expect(await tryService({ clusterIP: '10.1.0.3' })).toEqual([422, undefined, 'spec.clusterIPs']);
  expect(await addressNames(api)).toEqual([]);
});
