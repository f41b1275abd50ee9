import { GROUP } from '../../../shared/names';
import { patience } from '../../../shared/testing/eventually';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const ALL = '/api/v1/configmaps';
const CMS = '/api/v1/namespaces/default/configmaps';

let api: InProcessApi;
beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => {
  await api.close();
});

test.each([
  ['POST', ALL],
  ['DELETE', ALL],
  ['HEAD', CMS],
  ['HEAD', `${CMS}/a`],
  ['POST', '/api/v1/watch/namespaces/default/configmaps'],
])('%s %s is not allowed', async (method, url) => {
  const reply = await api.call(method, url, { body: { metadata: { name: 'a' } } });
  expect(reply.json).toMatchObject({ code: 405, reason: 'MethodNotAllowed' });
});

test.each([
  '/api/v1/watch/namespaces/default/status',
  '/api/v1/watch/namespaces/default/pods/a/status',
  '/api/v1/watch/namespaces/default/pods/a/log',
  '/api/v1/watch/namespaces/default/bindings',
  '/api/v1/watch/componentstatuses',
  '/api/v1/watch/configmaps/a',
  '/api/v1/proxy/namespaces/default/pods/a',
  '/api/v1/proxy/nodes/a',
])('%s is no path', async (url) => {
  expect((await api.call('GET', url)).json).toMatchObject({ code: 404, reason: 'NotFound' });
});

test('what is only listed says that it cannot be watched', async () => {
  const { json } = await api.call('GET', '/api/v1/componentstatuses?watch=1');
  expect(json).toMatchObject({
    code: 405,
    message: 'watch is not supported on resources of kind "componentstatuses"',
    details: { kind: 'componentstatuses' },
  });
});

test('what is made up for a list is selected like what is stored', async () => {
  const check = async (): Promise<void> => Promise.resolve();
  const withStore = await startInProcessApi(undefined, {
    services: { components: [{ name: 'store', check }] },
  });
  const select = async (selector: string): Promise<Reply> =>
    withStore.call('GET', `/api/v1/componentstatuses?fieldSelector=${encodeURIComponent(selector)}`);
  expect((await select('metadata.name=store')).json.items).toHaveLength(1);
  expect((await select('metadata.name!=store')).json.items).toEqual([]);
  expect((await select('metadata.namespace=x')).json.items).toEqual([]);
  expect((await select('spec.x=y')).code).toBe(400);
  await withStore.close();
});

test('a selected name makes a list or a watch of all namespaces no path of one object', async () => {
  for (const name of ['a', 'b']) await api.call('POST', CMS, { body: { metadata: { name } } });
  for (const url of [ALL, CMS]) {
    const { json } = await api.call('GET', `${url}?fieldSelector=metadata.name%3Da`);
    expect(json.items.map((each: { metadata: { name: string } }) => each.metadata.name)).toEqual(['a']);
    const reply = await api.call('GET', `${url}?fieldSelector=metadata.name%3Da&watch=1&timeoutSeconds=1`);
    expect(reply.text.match(/"type":"ADDED"/g)).toHaveLength(1);
  }
});

test('a double slash in a path leads nowhere', async () => {
  expect((await api.call('GET', '/api/v1//namespaces/default/configmaps')).code).toBe(404);
});

test.each(['limit=', 'limit=x', 'limit=1.5', 'timeoutSeconds=&watch=1', 'limit=9223372036854775808'])(
  '%s is a bad request',
  async (query) => {
    expect((await api.call('GET', `${CMS}?${query}`)).code).toBe(400);
  },
);

test.each(['limit=-1', 'limit=0'])('%s is no limit', async (query) => {
  for (const name of ['a', 'b']) await api.call('POST', CMS, { body: { metadata: { name } } });
  const { json } = await api.call('GET', `${CMS}?${query}`);
  expect(json.items).toHaveLength(2);
  expect(json.metadata.continue).toBeUndefined();
});

describe('a full page of selected objects', () => {
  beforeEach(async () => {
    for (const [name, app] of Object.entries({ a: 'x', b: 'y', c: 'x', d: 'y' })) {
      await api.call('POST', CMS, { body: { metadata: { name, labels: { app } } } });
    }
  });

  test.each([CMS, ALL])('of %s goes on while there are objects behind it, selected or not', async (url) => {
    const first = (await api.call('GET', `${url}?limit=2&labelSelector=app%3Dx`)).json;
    expect(first.items.map(nameOf)).toEqual(['a', 'c']);
    expect(first.metadata).toEqual({
      resourceVersion: expect.any(String),
      continue: expect.stringMatching(/./),
    });
    const rest = `limit=2&labelSelector=app%3Dx&continue=${first.metadata.continue as string}`;
    expect((await api.call('GET', `${url}?${rest}`)).json).toMatchObject({
      items: [],
      metadata: { resourceVersion: expect.any(String) },
    });
  });

  test('is the last one when it ends with the last object', async () => {
    const { items, metadata } = (await api.call('GET', `${CMS}?limit=2&labelSelector=app%3Dy`)).json;
    expect([items.map(nameOf), metadata.continue]).toEqual([['b', 'd'], undefined]);
  });

  test('is the last one when a name was asked for', async () => {
    const { items, metadata } = (await api.call('GET', `${CMS}?limit=1&fieldSelector=metadata.name%3Da`))
      .json;
    expect([items.map(nameOf), metadata.continue]).toEqual([['a'], undefined]);
  });

  test('goes on when a name is asked for in the middle of a list', async () => {
    const { metadata: first } = (await api.call('GET', `${CMS}?limit=1`)).json;
    const query = `limit=1&continue=${first.continue as string}&fieldSelector=metadata.name%3D`;
    const found = (await api.call('GET', `${CMS}?${query}c`)).json;
    expect([found.items.map(nameOf), found.metadata.continue]).toEqual([['c'], expect.stringMatching(/./)]);
    const passed = (await api.call('GET', `${CMS}?${query}a`)).json;
    expect([passed.items, passed.metadata.continue]).toEqual([[], undefined]);
  });
});

function nameOf({ metadata }: { readonly metadata: { readonly name: string } }): string {
  return metadata.name;
}

describe('a request to upgrade the connection', () => {
  const UPGRADE = { upgrade: true, headers: { connection: 'Upgrade', upgrade: 'websocket' } } as const;
  const statusOf = async (method: string, url: string, options: object = UPGRADE): Promise<Reply['json']> =>
    (await api.call(method, url, options)).json;

  test('is a bad request for anything but a watch', async () => {
    expect(await statusOf('GET', CMS)).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(await statusOf('GET', '/api/v1/namespaces/default')).toMatchObject({ code: 400 });
    expect(await statusOf('POST', CMS)).toMatchObject({ code: 400 });
  });

  test('is a bad request for a watch over anything but a WebSocket', async () => {
    const other = { upgrade: true, headers: { connection: 'Upgrade', upgrade: 'h2c' } };
    expect(await statusOf('GET', `${CMS}?watch=1`, other)).toMatchObject({ code: 400 });
  });

  test('is a stream of messages for a watch', async () => {
    const reply = await api.call('GET', `${CMS}?watch=1&timeoutSeconds=1`, UPGRADE);
    expect(reply.code).toBe(200);
  });
});

test('an absent field selects like the text its kind has for it, in lists and in watches', async () => {
  await api.call('POST', '/api/v1/nodes', { body: { metadata: { name: 'n1' } } });
  await api.call('POST', '/api/v1/nodes', {
    body: { metadata: { name: 'n2' }, spec: { unschedulable: true } },
  });
  const selector = 'fieldSelector=spec.unschedulable%3Dfalse';
  const { json } = await api.call('GET', `/api/v1/nodes?${selector}`);
  expect(json.items.map((each: { metadata: { name: string } }) => each.metadata.name)).toEqual(['n1']);
  const seen: unknown[] = [];
  for await (const { type, object } of api.watch(
    `/api/v1/nodes?watch=1&timeoutSeconds=1&${selector}`,
    patience(),
  )) {
    seen.push([type, (object['metadata'] as { name: string }).name]);
  }
  expect(seen).toEqual([['ADDED', 'n1']]);
});

test('a server that goes at once refuses a watch such that its client asks again, and answers everything else', async () => {
  await api.plane.cache.drain({ spreadMs: 0, refuseNew: true }, patience());
  const { json } = await api.call('GET', `${CMS}?watch=1`);
  expect(json).toMatchObject({ code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } });
  expect((await api.call('GET', CMS)).code).toBe(200);
});

test('an empty namespace in the path is that of a list over all namespaces, and no place to create anything', async () => {
  const empty = '/api/v1/namespaces//serviceaccounts';
  const all = await api.call('GET', '/api/v1/serviceaccounts');
  expect((await api.call('GET', empty)).json).toEqual(all.json);
  const { code } = await api.call('POST', empty, { body: { metadata: { name: 'a' } } });
  expect(code).toBe(405);
});

test.each([
  ['GET', '/api/v1/namespaces//pods/a'],
  ['GET', '/api/v1/namespaces//pods/a?watch=true'],
  ['GET', '/api/v1/namespaces//pods/status'],
  ['PUT', '/api/v1/namespaces//configmaps/a'],
  ['PATCH', '/api/v1/namespaces//configmaps/a'],
  ['DELETE', '/api/v1/namespaces//configmaps/a'],
  ['PUT', `/apis/${GROUP.apps}/v1/namespaces//deployments/a/scale`],
  ['POST', '/api/v1/namespaces//pods/a/binding'],
])('an object is in a namespace that has a name: %s %s', async (method, url) => {
  const { json } = await api.call(method, url, method === 'GET' ? {} : { body: {} });
  expect(json).toMatchObject({ code: 400, message: 'Namespace parameter required.' });
});

test('what is in no namespace is not found below an empty one', async () => {
  for (const [method, url] of [
    ['GET', '/api/v1/namespaces//nodes'],
    ['PUT', '/api/v1/namespaces//nodes/a/status'],
    ['DELETE', `/apis/${GROUP.scheduling}/v1/namespaces//priorityclasses`],
    ['GET', '/api/v1/watch/namespaces//namespaces'],
  ] as const) {
    expect((await api.call(method, url)).json).toMatchObject({ code: 404, details: {} });
  }
});
