import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => api.close());

const LIMIT_RANGES = '/api/v1/namespaces/default/limitranges';
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

test.each<[string, { readonly generateName?: string }]>([
  ['no name', {}],
  ['a generateName', { generateName: 'small-' }],
])('a LimitRange with %s is called by a UUID, and found by it', async (_what, metadata) => {
  const body = { metadata, spec: { limits: [] } };
  const created = await api.call('POST', LIMIT_RANGES, { body });
  expect(created.code).toBe(201);
  const { name, uid, generateName } = created.json.metadata;
  expect(name).toMatch(UUID);
  expect(name).not.toBe(uid);
  expect(generateName).toBe(metadata.generateName);
  expect((await api.call('GET', `${LIMIT_RANGES}/${String(name)}`)).json.metadata.uid).toBe(uid);
});

test('one that has a name keeps it, and other kinds need one', async () => {
  const named = await api.call('POST', LIMIT_RANGES, {
    body: { metadata: { name: 'l' }, spec: { limits: [] } },
  });
  expect(named.json.metadata.name).toBe('l');
  const other = await api.call('POST', '/api/v1/namespaces/default/configmaps', { body: { metadata: {} } });
  expect(other.code).toBe(422);
});
