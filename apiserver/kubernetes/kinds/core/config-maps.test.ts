import { startInProcessApi } from '../../../testing/in-process-api';

const CORE = '/api/v1/namespaces/default';

test.each([
  ['configmaps', { binaryData: { none: null } }, { binaryData: { none: '' } }],
  ['secrets', { data: { none: null } }, { data: { none: '' } }],
])('a key of %s may hold null, which is no bytes', async (resource, content, stored) => {
  const api = await startInProcessApi(undefined, { definitionsLive: false });
  const { code, json } = await api.call('POST', `${CORE}/${resource}`, {
    body: { metadata: { name: 'a' }, ...content },
  });
  await api.close();
  expect([code, json]).toEqual([201, expect.objectContaining(stored)]);
});
