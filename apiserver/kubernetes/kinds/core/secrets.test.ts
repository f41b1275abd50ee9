import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';

const SECRETS = '/api/v1/namespaces/default/secrets';

let api: InProcessApi;
beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => {
  await api.close();
});

test('the text of a secret becomes its data before the rules of its type look at it', async () => {
  const created = await api.call('POST', SECRETS, {
    body: {
      metadata: { name: 'a' },
      type: 'kubernetes.io/basic-auth',
      data: { username: 'b2xk', other: 'a2VwdA==' },
      stringData: { username: 'müller', password: '' },
    },
  });
  expect(created.code).toBe(201);
  expect(created.json.data).toEqual({ username: 'bcO8bGxlcg==', password: '', other: 'a2VwdA==' });
  expect(created.json).not.toHaveProperty('stringData');
  expect(created.json.metadata.managedFields[0].fieldsV1).toEqual({
    'f:data': { '.': {}, 'f:other': {}, 'f:password': {}, 'f:username': {} },
    'f:type': {},
  });
});

test('a patch with text changes the data and leaves the other keys', async () => {
  await api.call('POST', SECRETS, { body: { metadata: { name: 'a' }, data: { one: 'MQ==' } } });
  const patched = await api.call('PATCH', `${SECRETS}/a`, {
    body: { stringData: { two: '2' } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  expect(patched.json.data).toEqual({ one: 'MQ==', two: 'Mg==' });
  expect(patched.json).not.toHaveProperty('stringData');
});

describe('a text that is no longer sent keeps its key', () => {
  const key = 'kubectl.kubernetes.io/last-applied-configuration';
  const sent = (stringData: object): string => JSON.stringify({ metadata: { name: 'a' }, stringData });

  beforeEach(async () => {
    const metadata = { name: 'a', annotations: { [key]: sent({ one: '1', two: '2' }) } };
    expect(
      (await api.call('POST', SECRETS, { body: { metadata, stringData: { one: '1', two: '2' } } })).code,
    ).toBe(201);
  });

  // The patches that `kubectl apply` computes from the last applied configuration, for each of its patch types.
  test.each<[type: string, method: string, contentType: string, body: unknown]>([
    [
      'a strategic merge patch',
      'PATCH',
      'application/strategic-merge-patch+json',
      { metadata: { annotations: { [key]: sent({ one: '1' }) } }, stringData: { two: null } },
    ],
    ['a merge patch', 'PATCH', 'application/merge-patch+json', { stringData: { two: null } }],
    [
      'a JSON patch',
      'PATCH',
      'application/json-patch+json',
      [{ op: 'add', path: '/stringData', value: { one: '1' } }],
    ],
    [
      'an update',
      'PUT',
      'application/json',
      { metadata: { name: 'a' }, data: { two: 'Mg==' }, stringData: { one: '1' } },
    ],
  ])('%s', async (_type, method, contentType, body) => {
    const { code, json } = await api.call(method, `${SECRETS}/a`, {
      body,
      headers: { 'content-type': contentType },
    });
    expect([code, json.data]).toEqual([200, { one: 'MQ==', two: 'Mg==' }]);
  });

  test('an applied configuration', async () => {
    const apply = async (stringData: object): Promise<Reply> =>
      api.call('PATCH', `${SECRETS}/b?fieldManager=m`, {
        body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'b' }, stringData },
        headers: { 'content-type': 'application/apply-patch+yaml' },
      });
    await apply({ one: '1', two: '2' });
    const { code, json } = await apply({ one: '1' });
    expect([code, json.data]).toEqual([200, { one: 'MQ==', two: 'Mg==' }]);
    expect(json.metadata.managedFields).toMatchObject([{ fieldsV1: { 'f:stringData': { 'f:one': {} } } }]);
  });
});

test('an empty text adds nothing', async () => {
  const created = await api.call('POST', SECRETS, { body: { metadata: { name: 'a' }, stringData: {} } });
  expect(created.code).toBe(201);
  expect(created.json).not.toHaveProperty('data');
});
