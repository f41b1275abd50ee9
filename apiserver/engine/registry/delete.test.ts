import { patience } from '../../../shared/testing/eventually';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const PODS = '/api/v1/namespaces/default/pods';

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => {
  await api.close();
});

async function newPod(name: string, spec: object = {}): Promise<string> {
  const body = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  };
  const reply = await api.call('POST', PODS, { body });
  expect(reply.code).toBe(201);
  return String(reply.json.metadata.resourceVersion);
}

test.each([
  ['not-bound', {}, ''],
  ['now', { nodeName: 'n' }, '?gracePeriodSeconds=0'],
])('watchers see a pod terminating before it is removed: %s', async (name, spec, query) => {
  const version = await newPod(name, spec);
  const watch = api.watch(`${PODS}?watch=1&resourceVersion=${version}`, patience());
  const { code, json } = await api.call('DELETE', `${PODS}/${name}${query}`);
  expect(code).toBe(200);
  const { metadata } = json;
  expect(Number(metadata.resourceVersion)).toBeGreaterThan(Number(version));
  expect(metadata).toMatchObject({ deletionGracePeriodSeconds: 0, deletionTimestamp: expect.any(String) });
  const marked = await watch.next();
  expect(marked.value).toMatchObject({ type: 'MODIFIED', object: { metadata } });
  const removed = await watch.next();
  const { resourceVersion: _other, ...rest } = metadata;
  expect(removed.value).toMatchObject({ type: 'DELETED', object: { metadata: rest } });
  await watch.return(undefined);
  expect((await api.call('GET', `${PODS}/${name}`)).code).toBe(404);
});

test('a dry run of a deletion returns the marked pod and does not change it', async () => {
  await newPod('dry');
  const { code, json } = await api.call('DELETE', `${PODS}/dry?dryRun=All`);
  expect(code).toBe(200);
  expect(json.metadata).toMatchObject({ deletionGracePeriodSeconds: 0 });
  expect((await api.call('GET', `${PODS}/dry`)).json.metadata.deletionTimestamp).toBeUndefined();
});

test.each(['query', 'body'])(
  'a grace period of as many seconds as 64 bits hold is none too many: %s',
  async (where) => {
    await newPod(`long-${where}`, { nodeName: 'n' });
    const seconds = '9223372036854775807';
    const url = `${PODS}/long-${where}`;
    const reply =
      where === 'query'
        ? await api.call('DELETE', `${url}?gracePeriodSeconds=${seconds}`)
        : await api.call('DELETE', url, { text: `{"gracePeriodSeconds":${seconds}}` });
    expect(reply.code).toBe(200);
    expect((await api.call('DELETE', `${url}?gracePeriodSeconds=0`)).code).toBe(200);
  },
);
