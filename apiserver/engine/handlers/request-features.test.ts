import { GROUP } from '../../../shared/names';
import type { CallOptions, InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import type { RequestFeatures } from './request-features';

const CMS = '/api/v1/namespaces/default/configmaps';
const POLICIES = `/apis/policy/v1beta1/podsecuritypolicies`;
const GZIP: CallOptions = { headers: { 'accept-encoding': 'gzip' } };
const LARGE = 'x'.repeat(90_000);

let api: InProcessApi;

async function start(features: Partial<RequestFeatures> = {}): Promise<void> {
  api = await startInProcessApi(undefined, { features });
  for (const name of ['a', 'b', 'c']) {
    await api.call('POST', CMS, { body: { metadata: { name, labels: { own: 'yes' } }, data: { LARGE } } });
  }
}

afterEach(async () => {
  await api.close();
});

const namesOf = ({ json }: Reply): readonly string[] =>
  json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);

describe.each<Partial<RequestFeatures>>([{}, { listChunking: false }])('lists with %j', (features) => {
  const isChunked = features.listChunking !== false;

  test('come in pages only where there are pages', async () => {
    await start(features);
    const page = await api.call('GET', `${CMS}?labelSelector=own&limit=1`);
    expect(namesOf(page)).toEqual(isChunked ? ['a'] : ['a', 'b', 'c']);
    expect('continue' in page.json.metadata).toBe(isChunked);
    const more = await api.call('GET', `${CMS}?labelSelector=own&continue=zz`);
    expect(more.code).toBe(isChunked ? 400 : 200);
    // What contradicts itself is refused all the same.
    const odd = `${CMS}?continue=zz&resourceVersion=1&resourceVersionMatch=Exact`;
    expect((await api.call('GET', odd)).code).toBe(422);
  });

  test('of what is deleted do, too', async () => {
    await start(features);
    const deleted = await api.call('DELETE', `${CMS}?labelSelector=own&limit=1`);
    expect(namesOf(deleted)).toEqual(isChunked ? ['a'] : ['a', 'b', 'c']);
  });
});

test.each<Partial<RequestFeatures>>([{}, { remainingItemCount: false }])(
  'with %j, a page has remainingItemCount only if the gate is on',
  async (features) => {
    await start(features);
    const { metadata } = (await api.call('GET', `${CMS}?limit=1`)).json;
    expect(metadata.continue).toEqual(expect.any(String));
    expect(metadata.remainingItemCount).toBe(features.remainingItemCount === false ? undefined : 2);
  },
);

test.each<Partial<RequestFeatures>>([{}, { responseCompression: false }])(
  'with %j, large answers are compressed only where answers are, and documents of the API wherever they are asked for',
  async (features) => {
    await start(features);
    const expected = features.responseCompression === false ? undefined : 'gzip';
    expect((await api.call('GET', CMS, GZIP)).headers['Content-Encoding']).toBe(expected);
    expect((await api.call('GET', '/openapi/v2', GZIP)).headers['Content-Encoding']).toBe('gzip');
  },
);

describe('without dry runs', () => {
  beforeEach(async () => {
    await start({ dryRun: false });
  });

  test.each([
    ['POST', CMS],
    ['PUT', `${CMS}/a`],
    ['PATCH', `${CMS}/a`],
    ['DELETE', `${CMS}/a`],
    ['DELETE', CMS],
    ['POST', '/api/v1/namespaces/default/pods/x/eviction'],
  ])('a query that asks for one is refused: %s %s', async (method, url) => {
    const body = { metadata: { name: 'a' } };
    const { json } = await api.call(method, `${url}?dryRun=All`, { body });
    expect(json).toMatchObject({ code: 400, message: 'the dryRun feature is disabled' });
    expect(namesOf(await api.call('GET', `${CMS}?labelSelector=own`))).toEqual(['a', 'b', 'c']);
  });

  test('reads may say so, and the body of a deletion is heeded', async () => {
    expect((await api.call('GET', `${CMS}/a?dryRun=All`)).code).toBe(200);
    expect((await api.call('DELETE', `${CMS}/a`, { body: { dryRun: ['All'] } })).code).toBe(200);
    expect((await api.call('GET', `${CMS}/a`)).code).toBe(200);
  });
});

test.each<Partial<RequestFeatures>>([{}, { warningHeaders: false }])(
  'with %j, of deprecated versions is warned only where that is on, of all else always',
  async (features) => {
    await start(features);
    const { warnings } = await api.call('GET', POLICIES);
    expect(warnings).toHaveLength(features.warningHeaders === false ? 0 : 1);
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
    const body = { metadata: { name: 'owned', ownerReferences: [owner, owner] } };
    expect((await api.call('POST', CMS, { body })).warnings).toHaveLength(1);
  },
);

test.each<Partial<RequestFeatures>>([{}, { storageVersionHash: false }])(
  'with %j, discovery tells hashes of stored forms only where that is on',
  async (features) => {
    await start(features);
    const { json } = await api.call('GET', `/apis/${GROUP.networking}/v1`);
    const hashed = json.resources.filter((each: object) => 'storageVersionHash' in each);
    expect(hashed).toHaveLength(features.storageVersionHash === false ? 0 : 3);
  },
);
