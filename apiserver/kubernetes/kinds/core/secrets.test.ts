import type { InProcessApi } from '../../../testing/in-process-api';
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

test('an empty text adds nothing', async () => {
  const created = await api.call('POST', SECRETS, { body: { metadata: { name: 'a' }, stringData: {} } });
  expect(created.code).toBe(201);
  expect(created.json).not.toHaveProperty('data');
});
