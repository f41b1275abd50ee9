import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => api.close());

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';

test('of the secrets of a service account the names alone are kept, by creations and updates', async () => {
  const secrets = [{ name: 's', uid: 'u', namespace: 'other', kind: 'Secret' }, { uid: 'nameless' }];
  const created = await api.call('POST', ACCOUNTS, { body: { metadata: { name: 'a' }, secrets } });
  expect([created.code, created.json.secrets]).toEqual([201, [{ name: 's' }, {}]]);
  const body = { ...created.json, secrets: [{ name: 't', resourceVersion: '1' }] };
  const updated = await api.call('PUT', `${ACCOUNTS}/a`, { body });
  expect([updated.code, updated.json.secrets]).toEqual([200, [{ name: 't' }]]);
});
