import { GROUP, MEDIA_TYPE } from '../../shared/names';
import { FaultyMemoryBackend } from '../engine/storage/testing/faulty-memory-backend';
import type { InProcessApi, Reply } from './in-process-api';
import { startInProcessApi } from './in-process-api';
import { minimalObject } from './minimal-objects';
import { ALL_KINDS, collectionOf, endpointOf, STORED_ROWS } from './stored-rows';

let backend: FaultyMemoryBackend;
let api: InProcessApi;

beforeAll(async () => {
  backend = new FaultyMemoryBackend();
  api = await startInProcessApi(backend, ALL_KINDS);
});
afterAll(async () => {
  await api.close();
});

interface Sent {
  readonly body?: unknown;
  readonly type?: string;
}

async function send(method: string, url: string, { body, type }: Sent = {}): Promise<Reply> {
  return api.call(method, url, {
    ...(body === undefined ? {} : { body }),
    ...(type === undefined ? {} : { headers: { 'content-type': type } }),
  });
}

/** Sends a dry run; expects the status code of a real request, and an unchanged store. */
async function dry(method: string, url: string, { code, ...sent }: Sent & { code: number }): Promise<Reply> {
  const { revision } = backend;
  const reply = await send(method, `${url}${url.includes('?') ? '&' : '?'}dryRun=All`, sent);
  if (reply.code !== code) throw new Error(`${method} ${url} answered ${reply.text}`);
  expect(backend.revision).toBe(revision);
  return reply;
}

const PATCHES: readonly (readonly [type: string, body: unknown])[] = [
  [MEDIA_TYPE.mergePatch, { metadata: { labels: { dry: 'yes' } } }],
  [MEDIA_TYPE.strategicMergePatch, { metadata: { labels: { dry: 'yes' } } }],
  [MEDIA_TYPE.jsonPatch, [{ op: 'add', path: '/metadata/labels', value: { dry: 'yes' } }]],
];

test.each(STORED_ROWS.map(({ schema }) => schema))(
  'no dry run of a verb on a %s changes the store',
  async (schema) => {
    const endpoint = endpointOf(api, schema);
    const { row } = endpoint;
    const collection = collectionOf(row);
    const body = minimalObject(row, 'default');
    const url = `${collection}/${body.metadata.name}`;

    await dry('POST', collection, { body, code: 201 });
    expect((await send('GET', url)).code).toBe(404);
    const created = await send('POST', collection, { body });
    expect(created.code).toBe(201);
    const labelled = { ...created.json, metadata: { ...created.json.metadata, labels: { dry: 'yes' } } };
    expect((await dry('PUT', url, { body: labelled, code: 200 })).json.metadata.labels).toMatchObject({
      dry: 'yes',
    });
    for (const [type, patch] of PATCHES) {
      const { json } = await dry('PATCH', url, { body: patch, type, code: 200 });
      expect(json.metadata.labels).toMatchObject({ dry: 'yes' });
    }
    const config = { ...body, metadata: { ...body.metadata, labels: { dry: 'yes' } } };
    const apply = { body: config, type: MEDIA_TYPE.applyPatch, code: 200 };
    const applied = await dry('PATCH', `${url}?fieldManager=one&force=true`, apply);
    expect(applied.json.metadata.labels).toMatchObject({ dry: 'yes' });
    const other = {
      body: { ...config, metadata: { ...config.metadata, name: nameLike(body.metadata.name) } },
    };
    const elsewhere = `${collection}/${nameLike(body.metadata.name)}?fieldManager=one`;
    const made = await send('PATCH', `${elsewhere}&dryRun=All`, { ...other, type: MEDIA_TYPE.applyPatch });
    expect([201, 422]).toContain(made.code);

    for (const { name, verbs } of endpoint.subresources.values()) {
      // Subresources that connect to another server have no dry run.
      const leadsOn = endpoint.specialSubresources?.[name]?.is === 'connection';
      if (leadsOn || !verbs.includes('get')) continue;
      const shown = await send('GET', `${url}/${name}`);
      if (verbs.includes('update')) await dry('PUT', `${url}/${name}`, { body: shown.json, code: 200 });
      if (!verbs.includes('patch')) continue;
      for (const [type, patch] of PATCHES)
        await dry('PATCH', `${url}/${name}`, { body: patch, type, code: 200 });
    }

    if (row.verbs.includes('deletecollection')) {
      await dry('DELETE', `${collection}?fieldSelector=metadata.name=${body.metadata.name}`, { code: 200 });
    }
    await dry('DELETE', `${url}?gracePeriodSeconds=0`, { code: 200 });
    expect((await send('GET', url)).text).toBe(created.text);
    await send('PATCH', url, { body: { metadata: { finalizers: null } } });
    const { json } = await send('DELETE', `${url}?gracePeriodSeconds=0`);
    // A finalizer holds a definition until its objects are deleted.
    await send('PATCH', url, { body: { metadata: { finalizers: null } } });
    if (row.resource === 'namespaces') {
      await send('PUT', `${url}/finalize`, { body: { ...json, spec: { finalizers: [] } } });
    }
  },
);

/** Another valid name of the kind, with its required suffix. */
function nameLike(name: string): string {
  return `other-${name}`;
}

const PODS = '/api/v1/namespaces/default/pods';
const SERVICES = '/api/v1/namespaces/default/services';

test('binding and eviction have no effect as a dry run', async () => {
  const pod = minimalObject(endpointOf(api, 'core/v1.Pod').row, 'default');
  const { name } = pod.metadata;
  expect((await send('POST', PODS, { body: pod })).code).toBe(201);
  const before = (await send('GET', `${PODS}/${name}`)).text;
  const binding = { metadata: { name }, target: { kind: 'Node', name: 'n' } };
  await dry('POST', `${PODS}/${name}/binding`, { body: binding, code: 201 });
  await dry('POST', '/api/v1/namespaces/default/bindings', { body: binding, code: 201 });
  await dry('POST', `${PODS}/${name}/eviction`, { body: { metadata: { name } }, code: 201 });
  const inBody = { metadata: { name }, deleteOptions: { dryRun: ['All'] } };
  const { revision } = backend;
  expect((await send('POST', `${PODS}/${name}/eviction`, { body: inBody })).code).toBe(201);
  const options = { body: { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] } };
  expect((await send('DELETE', `${PODS}/${name}`, options)).code).toBe(200);
  expect(backend.revision).toBe(revision);
  expect((await send('GET', `${PODS}/${name}`)).text).toBe(before);
  await send('DELETE', `${PODS}/${name}?gracePeriodSeconds=0`);
});

test('an eviction as a dry run does not use a disruption budget', async () => {
  const labels = { app: 'spared' };
  const pod = { metadata: { name: 'spared', labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await send('POST', PODS, { body: pod });
  const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await send('PATCH', `${PODS}/spared/status`, { body: { status: running } });
  const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  const budget = { metadata: { name: 'b' }, spec: { minAvailable: 0, selector: { matchLabels: labels } } };
  await send('POST', budgets, { body: budget });
  const status = {
    observedGeneration: 1,
    disruptionsAllowed: 1,
    currentHealthy: 1,
    desiredHealthy: 0,
    expectedPods: 1,
  };
  await send('PATCH', `${budgets}/b/status`, { body: { status } });
  const before = (await send('GET', `${budgets}/b`)).text;
  for (let time = 0; time < 2; time += 1) {
    await dry('POST', `${PODS}/spared/eviction`, { body: { metadata: { name: 'spared' } }, code: 201 });
  }
  expect((await send('GET', `${budgets}/b`)).text).toBe(before);
});

test('the addresses and ports of a dry-run Service stay free', async () => {
  const body = (name: string): object => ({
    metadata: { name },
    spec: { type: 'NodePort', clusterIP: '10.0.0.77', ports: [{ port: 80, nodePort: 30077 }] },
  });
  const tried = await dry('POST', SERVICES, { body: body('tried'), code: 201 });
  expect(tried.json.spec).toMatchObject({ clusterIP: '10.0.0.77' });
  expect((await send('POST', SERVICES, { body: body('real') })).code).toBe(201);
  await dry('DELETE', `${SERVICES}/real`, { code: 200 });
  expect((await send('POST', SERVICES, { body: body('second') })).code).toBe(422);
  expect((await send('DELETE', `${SERVICES}/real`)).code).toBe(200);
  expect((await send('POST', SERVICES, { body: body('second') })).code).toBe(201);
});

test('a dry run returns no new resourceVersion and reserves no generated name', async () => {
  const url = '/api/v1/namespaces/default/configmaps';
  const { json } = await dry('POST', url, { body: { metadata: { generateName: 'made-' } }, code: 201 });
  expect(json.metadata.name).toMatch(/^made-.{5}$/);
  expect(json.metadata).not.toHaveProperty('resourceVersion');
  expect((await send('GET', `${url}/${String(json.metadata.name)}`)).code).toBe(404);
});

test.each([
  ['POST', '/api/v1/namespaces/default/configmaps', 'CreateOptions'],
  ['PUT', '/api/v1/namespaces/default/configmaps/a', 'UpdateOptions'],
  ['PATCH', '/api/v1/namespaces/default/configmaps/a', 'PatchOptions'],
  ['DELETE', '/api/v1/namespaces/default/configmaps/a', 'DeleteOptions'],
])('%s with another value than All is Invalid', async (method, url, kind) => {
  for (const value of ['', 'true', 'Some']) {
    const sent = method === 'DELETE' ? {} : { body: { metadata: { name: 'a' } } };
    const { json } = await send(method, `${url}?dryRun=${value}`, sent);
    expect(json).toMatchObject({
      code: 422,
      details: { kind, group: GROUP.meta, causes: [{ field: 'dryRun', reason: 'FieldValueNotSupported' }] },
    });
  }
});
