import { GROUP } from '../../../shared/names';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { causesOf } from '../../testing/kinds/refusals';

const CORE = '/api/v1/namespaces/default';
const CMS = `${CORE}/configmaps`;
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => {
  await api.close();
});

function configMap(metadata: object): object {
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata };
}

test.each([
  ['0', '', 201],
  ['abc', '', 201],
  ['99999999999999999999999', '', 201],
  ['7', '?dryRun=All', 201],
  ['7', '', 400],
])('a creation with resourceVersion %s%s returns %p', async (resourceVersion, query, code) => {
  const body = configMap({ generateName: 'v-', resourceVersion });
  expect((await api.call('POST', `${CMS}${query}`, { body })).code).toBe(code);
});

test('a new object is validated before its resourceVersion', async () => {
  const body = configMap({ name: 'B@d', resourceVersion: '7' });
  expect((await api.call('POST', CMS, { body })).code).toBe(422);
});

test('a kind without generations keeps the generation it was created with', async () => {
  const { json } = await api.call('POST', CMS, { body: configMap({ name: 'g', generation: 7 }) });
  expect(json.metadata.generation).toBe(7);
  const next = await api.call('PUT', `${CMS}/g`, { body: configMap({ name: 'g', generation: 9 }) });
  expect(next.json.metadata.generation).toBe(7);
  const negative = await api.call('POST', CMS, { body: configMap({ name: 'n', generation: -1 }) });
  expect(causesOf(negative)).toEqual(['Invalid metadata.generation']);
  const spec = { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } } } };
  const counted = await api.call('POST', `/apis/apps/v1/namespaces/default/statefulsets`, {
    body: { metadata: { name: 's', generation: 7 }, spec },
  });
  expect([counted.code, counted.json.metadata.generation]).toEqual([201, 1]);
});

test('an update of a missing object with a uid is a conflict, with a resourceVersion it creates the object', async () => {
  const uid = '11111111-2222-3333-4444-555555555555';
  expect((await api.call('PUT', `${CMS}/none`, { body: configMap({ name: 'none', uid }) })).code).toBe(409);
  expect((await api.call('PUT', `${CMS}/none`, { body: configMap({ name: 'none' }) })).code).toBe(404);
  const body = configMap({ name: 'none', resourceVersion: '1' });
  const applied = await api.call('PATCH', `${CMS}/none?fieldManager=m`, { body, headers: APPLY });
  expect(applied.code).toBe(201);
});

test('a PUT of a Service requires no resourceVersion, and another uid is a conflict', async () => {
  const spec = { ports: [{ port: 80 }] };
  const body = { kind: 'Service', apiVersion: 'v1', metadata: { name: 'a' }, spec };
  const { json } = await api.call('POST', `${CORE}/services`, { body });
  const put = async (metadata: object): Promise<readonly string[]> =>
    causesOf(
      await api.call('PUT', `${CORE}/services/a`, {
        body: { ...json, metadata: { name: 'a', ...metadata } },
      }),
    );
  const { resourceVersion } = json.metadata;
  expect(await put({})).toEqual(['200 ']);
  expect(await put({ resourceVersion, uid: 'other' })).toEqual([expect.stringMatching(/^409 /)]);
  expect(await put({ resourceVersion })).toEqual(['200 ']);
});

test('a PUT of a RuntimeClass requires a resourceVersion', async () => {
  const path = `/apis/${GROUP.node}/v1/runtimeclasses`;
  const body = { metadata: { name: 'c' }, handler: 'h' };
  expect((await api.call('POST', path, { body })).code).toBe(201);
  const { json } = await api.call('PUT', `${path}/c`, { body });
  expect(json.details?.causes).toEqual([
    {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 0x0: must be specified for an update',
      field: 'metadata.resourceVersion',
    },
  ]);
});

test('a PUT of a missing Service creates it, and so does an apply', async () => {
  const body = {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: 'b' },
    spec: { ports: [{ port: 80 }] },
  };
  const url = `${CORE}/services/b`;
  expect((await api.call('PUT', `${url}?dryRun=All`, { body })).code).toBe(201);
  expect((await api.call('PATCH', `${url}?fieldManager=m`, { body, headers: APPLY })).code).toBe(201);
});

test.each([
  ['capacity', ['Invalid capacity']],
  ['maximumVolumeSize', ['201 ']],
])('a CSIStorageCapacity with a negative %s fails with %p', async (field, causes) => {
  const body = {
    kind: 'CSIStorageCapacity',
    apiVersion: `${GROUP.storage}/v1beta1`,
    metadata: { generateName: 'c-' },
    storageClassName: 'c',
    [field]: '-1',
  };
  const url = `/apis/${GROUP.storage}/v1beta1/namespaces/default/csistoragecapacities`;
  expect(causesOf(await api.call('POST', url, { body }))).toEqual(causes);
});

test.each([
  ['leases', '/apis/coordination.GROUP/v1/namespaces/default/leases', { spec: {} }, []],
  ['configmaps', CMS, {}, ['Invalid metadata.finalizers[0]']],
])('the domain of finalizers of %s is checked as in v1.21', async (_kind, url, content, causes) => {
  const path = url.replace('coordination.GROUP', GROUP.coordination);
  const reply = await api.call('POST', path, {
    body: { metadata: { name: 'f', finalizers: ['plain'] }, ...content },
  });
  expect(causesOf(reply).filter((each) => !each.startsWith('201'))).toEqual(causes);
});

test('metadata of a PodDisruptionBudget is validated only if the rest is valid', async () => {
  const url = `/apis/policy/v1/namespaces/default/poddisruptionbudgets`;
  const post = async (spec: object): Promise<readonly string[]> =>
    causesOf(
      await api.call('POST', url, { body: { metadata: { name: 'b', labels: { 'a b': 'c' } }, spec } }),
    );
  expect(await post({ minAvailable: -1 })).toEqual(['Invalid spec.minAvailable']);
  expect(await post({ minAvailable: 1 })).toEqual(['Invalid metadata.labels']);
});

test('an update validates generateName for most kinds', async () => {
  await api.call('POST', CMS, { body: configMap({ name: 'm' }) });
  const patched = await api.call('PATCH', `${CMS}/m`, { body: { metadata: { generateName: 'B@d' } } });
  expect(causesOf(patched)).toEqual(['Invalid metadata.generateName']);
});
