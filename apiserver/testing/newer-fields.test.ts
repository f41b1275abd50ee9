import { GROUP } from '../../shared/names';
import type { Backend, StoredRecord } from '../engine/storage/backend';
import { valueOf } from '../engine/storage/backend';
import type { InProcessApi, Reply } from './in-process-api';
import { startInProcessApi } from './in-process-api';
import { removeStores, STORES } from './stores';

/** Handling of fields that a later release has stored (ADR 64). */

const PODS = '/api/v1/namespaces/default/pods';
const POLICIES = `/apis/${GROUP.networking}/v1/namespaces/default/networkpolicies`;
const FINALIZER = 'example.com/f';
const { signal } = new AbortController();

const POD = {
  metadata: { name: 'x', finalizers: [FINALIZER] },
  spec: {
    containers: [
      { name: 'a', image: 'i' },
      { name: 'b', image: 'i' },
    ],
  },
};
const POLICY = {
  metadata: { name: 'x' },
  spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }, { ports: [{ port: 81 }] }] },
};

// oxlint-disable-next-line typescript/no-explicit-any -- like server responses
type Edited = any;

afterAll(removeStores);

describe.each(STORES)('over %s', (_name, open) => {
  let backend: Backend;
  let api: InProcessApi;

  beforeEach(async () => {
    backend = await open();
    api = await startInProcessApi(backend);
  });
  afterEach(async () => {
    await api.close();
    await backend.close();
  });

  async function record(key: string): Promise<StoredRecord> {
    const { record: found } = await backend.get(`/registry/${key}`, signal);
    if (found === undefined) throw new Error(`${key} is not stored`);
    return found;
  }

  /** The stored object without volatile fields. */
  async function stored(key: string): Promise<Edited> {
    return JSON.parse(valueOf(await record(key)).toString('utf8'));
  }

  /** Writes directly to the store as a later release would, and waits until the server has seen it. */
  async function edit(key: string, url: string, change: (object: Edited) => void): Promise<void> {
    const before = await record(key);
    const object: Edited = await stored(key);
    change(object);
    const value = Buffer.from(JSON.stringify(object));
    await backend.update(before.key ?? `/registry/${key}`, value, { expected: before.revision }, signal);
    await api.call('GET', url);
  }

  const POD_KEY = 'core/pods/default/x';

  async function newerPod(): Promise<void> {
    expect((await api.call('POST', PODS, { body: POD })).code).toBe(201);
    await edit(POD_KEY, `${PODS}/x`, (pod) => {
      pod.metadata.newerMeta = 'm';
      pod.spec.newerSpec = { deep: [1, { two: 2 }] };
      pod.spec.containers[1].newerContainer = 12;
      pod.status.newerStatus = true;
    });
  }

  async function expectNewer(): Promise<Edited> {
    const pod = await stored(POD_KEY);
    expect(pod.metadata.newerMeta).toBe('m');
    expect(pod.spec.newerSpec).toEqual({ deep: [1, { two: 2 }] });
    expect(pod.spec.containers[0]).not.toHaveProperty('newerContainer');
    expect(pod.spec.containers[1]).toMatchObject({ name: 'b', newerContainer: 12 });
    expect(pod.status.newerStatus).toBe(true);
    return pod;
  }

  const patch = async (type: string, body: unknown, url = `${PODS}/x`): Promise<Reply> =>
    api.call('PATCH', url, { body, headers: { 'content-type': `application/${type}` } });

  test('reads return them in JSON, and omit them in encodings without them', async () => {
    await newerPod();
    const { json } = await api.call('GET', `${PODS}/x`);
    expect(json.spec.newerSpec).toEqual({ deep: [1, { two: 2 }] });
    const list = await api.call('GET', PODS);
    expect(list.json.items[0].spec.containers[1].newerContainer).toBe(12);
    for (const accept of [
      'application/vnd.kubernetes.protobuf',
      `application/json;as=Table;g=${GROUP.meta};v=v1`,
      `application/json;as=PartialObjectMetadataList;g=${GROUP.meta};v=v1`,
    ]) {
      expect((await api.call('GET', PODS, { headers: { accept } })).code).toBe(200);
    }
    const stop = new AbortController();
    for await (const { object } of api.watch(`${PODS}?watch=1&resourceVersion=0`, stop.signal)) {
      expect(object['spec']).toMatchObject({ newerSpec: { deep: [1, { two: 2 }] } });
      break;
    }
    stop.abort();
  });

  test('managed fields of a later release block no write by the same owner', async () => {
    expect((await api.call('POST', PODS, { body: POD })).code).toBe(201);
    await edit(POD_KEY, `${PODS}/x`, (pod) => {
      for (const entry of pod.metadata.managedFields) entry.newerOwner = 'status';
    });
    expect((await stored(POD_KEY)).metadata.managedFields).toMatchObject([{ newerOwner: 'status' }]);
    const body = { metadata: { labels: { a: 'b' } } };
    expect(await patch('merge-patch+json', body)).toMatchObject({ code: 200 });
    expect((await stored(POD_KEY)).metadata.labels).toEqual({ a: 'b' });
  });

  test('writes of clients that do not know them keep them in place', async () => {
    await newerPod();
    const { json } = await api.call('GET', `${PODS}/x`);
    const { newerMeta: _meta, ...metadata } = json.metadata;
    const { newerSpec: _spec, containers: _all, ...spec } = json.spec;
    const containers = json.spec.containers.map(({ newerContainer: _one, ...each }: Edited) => each);
    const body = {
      ...json,
      metadata: { ...metadata, labels: { a: 'put' } },
      spec: { ...spec, containers },
      status: {},
    };
    expect(await api.call('PUT', `${PODS}/x`, { body })).toMatchObject({ code: 200 });
    expect((await expectNewer()).metadata.labels).toEqual({ a: 'put' });

    const patches: readonly (readonly [type: string, body: unknown])[] = [
      ['merge-patch+json', { metadata: { labels: { a: 'merge' } } }],
      ['strategic-merge-patch+json', { spec: { containers: [{ name: 'a', image: 'j' }] } }],
      ['json-patch+json', [{ op: 'add', path: '/metadata/labels/b', value: 'json' }]],
    ];
    for (const [type, change] of patches) {
      expect(await patch(type, change)).toMatchObject({ code: 200 });
      await expectNewer();
    }
    const config = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', labels: { c: 'applied' } } };
    expect(await patch('apply-patch+yaml', config, `${PODS}/x?fieldManager=f`)).toMatchObject({ code: 200 });
    expect((await expectNewer()).metadata.labels).toEqual({ a: 'merge', b: 'json', c: 'applied' });
    const status = { phase: 'Running' };
    expect(await patch('merge-patch+json', { status }, `${PODS}/x/status`)).toMatchObject({ code: 200 });
    expect((await expectNewer()).status.phase).toBe('Running');
  });

  test('a write that changes nothing leaves the object as the later release wrote it', async () => {
    await newerPod();
    const before = await record(POD_KEY);
    expect(await patch('merge-patch+json', { metadata: { finalizers: [FINALIZER] } })).toMatchObject({
      code: 200,
    });
    expect((await record(POD_KEY)).revision).toBe(before.revision);
    expect(
      await patch('merge-patch+json', { metadata: { labels: { a: 'b' } } }, `${PODS}/x?dryRun=All`),
    ).toMatchObject({ code: 200, json: { spec: { newerSpec: {} } } });
    expect((await record(POD_KEY)).revision).toBe(before.revision);
  });

  test('the object keeps them while it is terminating, and can be deleted', async () => {
    await newerPod();
    expect((await api.call('DELETE', `${PODS}/x`)).code).toBe(200);
    expect((await expectNewer()).metadata.deletionTimestamp).toBeDefined();
    expect(await patch('merge-patch+json', { metadata: { finalizers: null } })).toMatchObject({ code: 200 });
    expect((await api.call('GET', `${PODS}/x`)).code).toBe(404);
  });

  test('removing a field removes the unknown fields in it', async () => {
    await newerPod();
    await edit(POD_KEY, `${PODS}/x`, (pod) => {
      pod.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u', newerOwner: 1 }];
    });
    expect(await patch('merge-patch+json', { metadata: { ownerReferences: null } })).toMatchObject({
      code: 200,
    });
    expect((await expectNewer()).metadata).not.toHaveProperty('ownerReferences');
  });

  test('a change that makes their list item ambiguous is refused', async () => {
    const key = `${GROUP.networking}/networkpolicies/default/x`;
    expect((await api.call('POST', POLICIES, { body: POLICY })).code).toBe(201);
    await edit(key, `${POLICIES}/x`, (policy) => {
      policy.spec.ingress[1].newerRule = 'r';
    });
    const change = async (ingress: unknown): Promise<Reply> =>
      patch('merge-patch+json', { spec: { ingress } }, `${POLICIES}/x`);
    const other = { ports: [{ port: 82, protocol: 'TCP' }] };
    const first = { ports: [{ port: 80, protocol: 'TCP' }] };
    const second = { ports: [{ port: 81, protocol: 'TCP' }] };
    const refused = await change([first, other]);
    expect([refused.code, refused.json.reason]).toEqual([409, 'Conflict']);
    expect(refused.json.message).toContain('a later release has stored fields of spec.ingress[1]');
    const { spec } = await stored(key);
    expect(spec.ingress[1].newerRule).toBe('r');
    // The item is identified after a move.
    expect((await change([second, other, first])).code).toBe(200);
    expect((await stored(key)).spec.ingress[0]).toEqual({ ...second, newerRule: 'r' });
    // The client removes the item on purpose.
    expect((await change([other, first])).code).toBe(200);
    expect(JSON.stringify(await stored(key))).not.toContain('newerRule');
  });

  test('writes of the server itself keep them too', async () => {
    const url = '/api/v1/namespaces/default/resourcequotas';
    const key = 'core/resourcequotas/default/q';
    const body = { metadata: { name: 'q' }, spec: { hard: { pods: '5' } } };
    expect((await api.call('POST', url, { body })).code).toBe(201);
    const status = { hard: { pods: '5' }, used: { pods: '0' } };
    expect(await patch('merge-patch+json', { status }, `${url}/q/status`)).toMatchObject({ code: 200 });
    await edit(key, `${url}/q`, (quota) => {
      quota.spec.newerSpec = 1;
      quota.status.newerStatus = 2;
    });
    expect((await api.call('POST', PODS, { body: POD })).code).toBe(201);
    expect(await stored(key)).toMatchObject({
      spec: { newerSpec: 1 },
      status: { used: { pods: '1' }, newerStatus: 2 },
    });
  });

  test('an object that a server at another API level stored in another version has the fields of this one', async () => {
    const url = `/apis/${GROUP.flowcontrol}/v1beta1/prioritylevelconfigurations`;
    const key = `${GROUP.flowcontrol}/prioritylevelconfigurations/x`;
    const limited = { assuredConcurrencyShares: 3, limitResponse: { type: 'Reject' } };
    await api.call('POST', url, { body: { metadata: { name: 'x' }, spec: { type: 'Limited', limited } } });
    await edit(key, `${url}/x`, (object) => {
      object.apiVersion = `${GROUP.flowcontrol}/v1`;
      object.spec.limited = { nominalConcurrencyShares: 7, novel: 1, limitResponse: { type: 'Reject' } };
    });
    const read = await api.call('GET', `${url}/x`);
    expect(read.json.spec.limited).toMatchObject({ assuredConcurrencyShares: 7 });
    expect(read.json.spec.limited).not.toHaveProperty('nominalConcurrencyShares');
    await api.call('PATCH', `${url}/x`, { body: { metadata: { labels: { a: 'b' } } } });
    const { apiVersion, spec } = await stored(key);
    expect(apiVersion).toBe(`${GROUP.flowcontrol}/v1beta1`);
    expect(spec.limited).toMatchObject({ assuredConcurrencyShares: 7, novel: 1 });
  });
});
