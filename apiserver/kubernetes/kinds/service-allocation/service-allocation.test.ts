import { patience } from '../../../../shared/testing/eventually';
import type { InProcessApi } from '../../../testing/in-process-api';
import { serviceRanges, startInProcessApi } from '../../../testing/in-process-api';
import { StorageError } from '../../../engine/storage/backend';
import { FaultyMemoryBackend } from '../../../engine/storage/testing/faulty-memory-backend';
import { Claims } from './claims';
import { Pool } from './pool';

const SERVICES = '/api/v1/namespaces/default/services';
const PORTS = [{ name: 'http', port: 80 }];

let backend: FaultyMemoryBackend;
let apis: readonly InProcessApi[];

/** Starts the given number of servers on one store, like replicas. */
async function start(count: number, given = serviceRanges('10.0.0.0/24')): Promise<InProcessApi> {
  backend = new FaultyMemoryBackend();
  const started: InProcessApi[] = [];
  for (let index = 0; index < count; index += 1)
    started.push(await startInProcessApi(backend, { ranges: given }));
  apis = started;
  const [first] = started;
  if (first === undefined) throw new Error('no server');
  return first;
}

afterEach(async () => {
  for (const api of apis) await api.close();
});

function service(name: string, spec: object = {}): object {
  return { metadata: { name }, spec: { ports: PORTS, ...spec } };
}

async function claims(kind: string): Promise<readonly string[]> {
  const prefix = `/registry.claims/${kind}/`;
  const { records } = await backend.list(prefix, {}, patience());
  return records.map(({ key }) => key.slice(prefix.length));
}

async function repairTwice(
  api: InProcessApi,
): ReturnType<InProcessApi['plane']['serviceAllocation']['repair']> {
  const signal = patience();
  await api.plane.serviceAllocation.repair(signal);
  return api.plane.serviceAllocation.repair(signal);
}

test('a Service gets an address of the range, and a node port for each port when its type asks for them', async () => {
  const api = await start(1);
  const plain = await api.call('POST', SERVICES, { body: service('plain') });
  expect(plain.code).toBe(201);
  expect(plain.json.spec.clusterIP).toMatch(/^10\.0\.0\.\d+$/);
  expect(plain.json.spec).toMatchObject({
    clusterIPs: [plain.json.spec.clusterIP],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
  });
  const node = await api.call('POST', SERVICES, { body: service('node', { type: 'NodePort' }) });
  expect(node.json.spec.ports[0].nodePort).toBeGreaterThanOrEqual(30_000);
  expect(await claims('nodeport')).toEqual([String(node.json.spec.ports[0].nodePort)]);
});

test('headless and external Services hold no address', async () => {
  const api = await start(1);
  const headless = await api.call('POST', SERVICES, {
    body: service('headless', { clusterIP: 'None', selector: { a: 'b' } }),
  });
  expect(headless.json.spec).toMatchObject({
    clusterIP: 'None',
    clusterIPs: ['None'],
    ipFamilyPolicy: 'SingleStack',
  });
  const external = await api.call('POST', SERVICES, {
    body: service('external', { type: 'ExternalName', externalName: 'example.com' }),
  });
  expect(external.code).toBe(201);
  expect(external.json.spec.clusterIP).toBeUndefined();
  expect(await claims('clusterip')).toEqual([]);
});

test('a TCP and a UDP port of one number share the node port that is filled in', async () => {
  const api = await start(1);
  const ports = [
    { name: 'tcp', port: 53, protocol: 'TCP' },
    { name: 'udp', port: 53, protocol: 'UDP' },
  ];
  const { json } = await api.call('POST', SERVICES, { body: service('dns', { type: 'NodePort', ports }) });
  expect(json.spec.ports[0].nodePort).toBe(json.spec.ports[1].nodePort);
  expect(await claims('nodeport')).toHaveLength(1);
});

test('what the client asks for is honoured once, and refused with the field when it is taken or outside the range', async () => {
  const api = await start(1);
  const spec = { clusterIP: '10.0.0.77', type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] };
  const first = await api.call('POST', SERVICES, { body: service('first', spec) });
  expect(first.json.spec).toMatchObject(spec);
  const address = await api.call('POST', SERVICES, { body: service('second', { clusterIP: '10.0.0.77' }) });
  expect(address.code).toBe(422);
  expect(address.json.details.causes).toEqual([
    {
      reason: 'FieldValueInvalid',
      field: 'spec.clusterIPs',
      message:
        'Invalid value: []string{"10.0.0.77"}: failed to allocated ip:10.0.0.77 with error:provided IP is already allocated',
    },
  ]);
  const port = await api.call('POST', SERVICES, {
    body: service('third', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] }),
  });
  expect(port.json.details.causes[0]).toMatchObject({
    field: 'spec.ports[0].nodePort',
    message: 'Invalid value: 30080: provided port is already allocated',
  });
  const outside = await api.call('POST', SERVICES, {
    body: service('fourth', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] }),
  });
  expect(outside.json.message).toContain(
    'provided port is not in the valid range. The range of valid ports is 30000-32767',
  );
  const foreign = await api.call('POST', SERVICES, { body: service('fifth', { clusterIP: '10.1.0.1' }) });
  expect(foreign.json.message).toContain('The range of valid IPs is 10.0.0.0/24');
  // Nothing of the refused ones is held.
  expect(await claims('clusterip')).toEqual(['10.0.0.77']);
  expect(await claims('nodeport')).toEqual(['30080']);
});

test('deleting a Service frees all it held, changing its type what it no longer needs', async () => {
  const api = await start(1);
  await api.call('POST', SERVICES, { body: service('web', { type: 'NodePort' }) });
  const changed = await api.call('PATCH', `${SERVICES}/web`, {
    body: { spec: { type: 'ClusterIP', externalTrafficPolicy: null } },
  });
  expect(changed.code).toBe(200);
  expect(changed.json.spec.ports[0].nodePort).toBeUndefined();
  expect(await claims('nodeport')).toEqual([]);
  expect(await claims('clusterip')).toEqual([changed.json.spec.clusterIP]);
  await api.call('DELETE', `${SERVICES}/web`);
  expect(await claims('clusterip')).toEqual([]);
});

test('an update that leaves allocated fields out keeps them and writes nothing', async () => {
  const api = await start(1);
  const body = service('web', { type: 'NodePort' });
  const created = await api.call('POST', SERVICES, { body });
  const { resourceVersion } = created.json.metadata;
  const updated = await api.call('PUT', `${SERVICES}/web`, {
    body: { ...body, metadata: { name: 'web', resourceVersion } },
  });
  expect(updated.json.spec).toEqual(created.json.spec);
  expect(updated.json.metadata.resourceVersion).toBe(created.json.metadata.resourceVersion);
});

test('a Service that becomes external gives its address up, and gets one again when it comes back', async () => {
  const api = await start(1);
  await api.call('POST', SERVICES, { body: service('web') });
  await api.call('PATCH', `${SERVICES}/web`, {
    body: { spec: { type: 'ExternalName', externalName: 'a.example' } },
  });
  expect(await claims('clusterip')).toEqual([]);
  const back = await api.call('PATCH', `${SERVICES}/web`, {
    body: { spec: { type: 'ClusterIP', externalName: null } },
  });
  expect(await claims('clusterip')).toEqual([back.json.spec.clusterIP]);
});

test('a dry run takes nothing', async () => {
  const api = await start(1);
  const { code, json } = await api.call('POST', `${SERVICES}?dryRun=All`, {
    body: service('web', { type: 'NodePort' }),
  });
  expect(code).toBe(201);
  expect(json.spec.ports[0].nodePort).toBe(32_769);
  expect(await claims('clusterip')).toEqual([]);
  expect(await claims('nodeport')).toEqual([]);
});

test('a dry run shows made-up ports above the greatest requested one', async () => {
  const api = await start(1);
  const ports = [
    { name: 'a', port: 80, nodePort: 30_001 },
    { name: 'b', port: 81 },
    { name: 'c', port: 82 },
  ];
  const { json } = await api.call('POST', `${SERVICES}?dryRun=All`, {
    body: service('web', { type: 'NodePort', ports }),
  });
  expect(json.spec.ports.map(({ nodePort }: { nodePort: number }) => nodePort)).toEqual([
    30_001, 30_002, 30_003,
  ]);
});

test('a Service that no node leads to any more loses what that came with, whatever ports it keeps', async () => {
  const api = await start(1);
  const ports = [
    { name: 'a', port: 80 },
    { name: 'b', port: 81 },
  ];
  await api.call('POST', SERVICES, { body: service('web', { type: 'NodePort', ports }) });
  const { json } = await api.call('GET', `${SERVICES}/web`);
  const [, kept] = json.spec.ports;
  const back = await api.call('PATCH', `${SERVICES}/web`, {
    body: { spec: { type: 'ClusterIP', ports: [kept] } },
  });
  expect([back.code, back.json.spec.externalTrafficPolicy]).toEqual([200, undefined]);
  expect(back.json.spec.ports).toEqual([{ name: 'b', port: 81, protocol: 'TCP', targetPort: 81 }]);
  expect(await claims('nodeport')).toEqual([]);
});

test('a Service of an unknown type is refused for its type only', async () => {
  const api = await start(1);
  await api.call('POST', SERVICES, { body: service('web') });
  const { json } = await api.call('PATCH', `${SERVICES}/web`, { body: { spec: { type: 'Odd' } } });
  expect(json.details.causes).toMatchObject([{ reason: 'FieldValueNotSupported', field: 'spec.type' }]);
});

test('the port of health checks is compared with type and policy when everything else is right', async () => {
  const api = await start(1);
  const spec = { healthCheckNodePort: 31000 };
  const alone = await api.call('POST', SERVICES, { body: service('plain', spec) });
  expect([alone.code, alone.json.details.causes]).toMatchObject([
    422,
    [{ field: 'spec.healthCheckNodePort' }],
  ]);
  const labelled = { metadata: { name: 'plain', labels: { '-': 'x' } }, spec: { ports: PORTS, ...spec } };
  const both = await api.call('POST', SERVICES, { body: labelled });
  expect([both.code, both.json.details.causes]).toMatchObject([422, [{ field: 'metadata.labels' }]]);
  expect(both.json.details.causes).toHaveLength(1);
  expect(await claims('clusterip')).toEqual([]);
});

test('three servers that create Services at once never give one value twice, and use the range up to the last address', async () => {
  const api = await start(3, serviceRanges('10.9.0.0/26', '31000-31061'));
  const names = Array.from({ length: 62 }, (_, index) => `s${String(index)}`);
  const replies = await Promise.all(
    names.map((name, index) =>
      (apis[index % apis.length] ?? api).call('POST', SERVICES, {
        body: service(name, { type: 'NodePort' }),
      }),
    ),
  );
  expect(replies.map(({ code }) => code)).toEqual(names.map(() => 201));
  expect(new Set(replies.map(({ json }) => json.spec.clusterIP)).size).toBe(62);
  expect(new Set(replies.map(({ json }) => json.spec.ports[0].nodePort)).size).toBe(62);
  const full = await api.call('POST', SERVICES, { body: service('late') });
  expect(full.code).toBe(500);
  expect(full.json.message).toBe('Internal error occurred: failed to allocate a serviceIP: range is full');
  await api.call('DELETE', `${SERVICES}/s7`);
  const again = await api.call('POST', SERVICES, { body: service('late', { type: 'NodePort' }) });
  expect(again.code).toBe(201);
});

test('a creation that finds its name taken gives back what it took for it', async () => {
  const api = await start(1);
  const first = await api.call('POST', SERVICES, { body: service('web') });
  const second = await api.call('POST', SERVICES, { body: service('web') });
  expect(second.code).toBe(409);
  expect(await claims('clusterip')).toEqual([first.json.spec.clusterIP]);
});

test('what a server took before it was killed is free again after two rounds of repair', async () => {
  const api = await start(1);
  // The store fails after the claim and before the Service, as when the server is killed.
  const create = backend.create.bind(backend);
  backend.create = async (...asked) => {
    if (asked[0].startsWith('/registry/core/services/')) throw new StorageError('unknown-outcome', 'killed');
    return create(...asked);
  };
  expect((await api.call('POST', SERVICES, { body: service('lost') })).json.message).toMatch('killed');
  backend.create = create;
  expect(await claims('clusterip')).toHaveLength(1);
  const signal = patience();
  const [first] = await api.plane.serviceAllocation.repair(signal);
  expect(first).toMatchObject({ freed: 0, suspected: 1 });
  const [second] = await api.plane.serviceAllocation.repair(signal);
  expect(second).toMatchObject({ freed: 1, suspected: 0 });
  expect(await claims('clusterip')).toEqual([]);
});

test('what was taken for a Service whose write came through all the same is left to it by repair', async () => {
  const api = await start(1);
  const create = backend.create.bind(backend);
  backend.create = async (...asked) => {
    const outcome = await create(...asked);
    if (asked[0].startsWith('/registry/core/services/'))
      throw new StorageError('unknown-outcome', 'no answer');
    return outcome;
  };
  expect((await api.call('POST', SERVICES, { body: service('web') })).json.message).toMatch('no answer');
  backend.create = create;
  const { json } = await api.call('GET', `${SERVICES}/web`);
  const [report] = await repairTwice(api);
  expect(report).toMatchObject({ freed: 0, suspected: 0, claimed: 0 });
  expect(await claims('clusterip')).toEqual([json.spec.clusterIP]);
});

test('repair claims a value in use that lost its claim, and tells of one that two Services use', async () => {
  const api = await start(1);
  const first = await api.call('POST', SERVICES, { body: service('first') });
  const address = String(first.json.spec.clusterIP);
  const key = `/registry.claims/clusterip/${address}`;
  const { record } = await backend.get(key, new AbortController().signal);
  await backend.delete(key, record?.revision ?? 0, new AbortController().signal);
  const [report] = await api.plane.serviceAllocation.repair(patience());
  expect(report).toMatchObject({ claimed: 1, duplicates: 0 });
  expect(await claims('clusterip')).toEqual([address]);

  const stored = await backend.get('/registry/core/services/default/first', new AbortController().signal);
  const twin = (stored.record?.value.toString('utf8') ?? '')
    .replace('"name":"first"', '"name":"twin"')
    .replace(String(first.json.metadata.uid), '00000000-0000-4000-8000-000000000000');
  await backend.create(
    '/registry/core/services/default/twin',
    Buffer.from(twin),
    {},
    new AbortController().signal,
  );
  const [next] = await api.plane.serviceAllocation.repair(patience());
  expect(next).toMatchObject({ duplicates: 1, claimed: 0, freed: 0 });
});

test('a value that one version of a Service releases and the next requests stays claimed', async () => {
  const api = await start(1);
  const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] };
  await api.call('POST', SERVICES, { body: service('web', spec) });
  // The second update comes through while the first is about to give the port back.
  const get = backend.get.bind(backend);
  const codes: number[] = [];
  backend.get = async (...asked) => {
    if (asked[0] === '/registry.claims/nodeport/30001' && codes.length === 0) {
      codes.push(0);
      const back = await api.call('PATCH', `${SERVICES}/web`, { body: { spec } });
      codes.push(back.code);
    }
    return get(...asked);
  };
  await api.call('PATCH', `${SERVICES}/web`, {
    body: { spec: { type: 'ClusterIP', externalTrafficPolicy: null, ports: [{ port: 80 }] } },
  });
  expect(codes).toEqual([0, 200]);
  expect(await claims('nodeport')).toEqual(['30001']);
});

test('a family that the cluster does not have is refused', async () => {
  const api = await start(1);
  const dual = await api.call('POST', SERVICES, {
    body: service('dual', { ipFamilyPolicy: 'RequireDualStack' }),
  });
  expect(dual.json.details.causes[0]).toMatchObject({ field: 'spec.ipFamilyPolicy' });
  const six = await api.call('POST', SERVICES, { body: service('six', { ipFamilies: ['IPv6'] }) });
  expect(six.json.details.causes[0]).toMatchObject({ field: 'spec.ipFamilies[0]' });
  expect(await claims('clusterip')).toEqual([]);
});

test('an address whose record cannot be made is given back, also when the request has ended', async () => {
  const store = new (class extends FaultyMemoryBackend {
    override async delete(
      ...args: Parameters<FaultyMemoryBackend['delete']>
    ): ReturnType<FaultyMemoryBackend['delete']> {
      args[2].throwIfAborted();
      return super.delete(...args);
    }
  })();
  const request = new AbortController();
  const owner = { namespace: 'default', name: 'a', uid: 'u' };
  const allocated = new Claims(store, { storePrefix: '/registry', kind: 'clusterip' });
  const pool = new Pool(serviceRanges('10.0.0.0/24').addresses, {
    claims: allocated,
    randomInt: () => 0,
    records: {
      add: async () => {
        request.abort(new Error('the client is gone'));
        return Promise.reject(new Error('the client is gone'));
      },
      remove: async () => Promise.resolve(),
      values: () => [],
    },
  });
  await expect(pool.take('10.0.0.7', owner, request.signal)).rejects.toThrow('the client is gone');
  expect(await allocated.has('10.0.0.7', patience())).toBe(false);
});
