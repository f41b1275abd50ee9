import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { STORES, removeStores } from '../../testing/stores';

const CMS = '/api/v1/namespaces/default/configmaps';

afterAll(removeStores);

describe.each(STORES)('over %s', (_name, open) => {
  let api: InProcessApi;
  beforeAll(async () => {
    // A version is too old as soon as there is a newer one.
    api = await startInProcessApi(await open(), { limits: { continueAgeMaxMs: 0 } });
    for (const name of ['a', 'b', 'c']) await create(CMS, name);
  });
  afterAll(async () => {
    await api.close();
  });

  const create = async (collection: string, name: string): Promise<void> => {
    expect((await api.call('POST', collection, { body: { metadata: { name } } })).code).toBe(201);
  };
  const page = async (token: string): Promise<Reply> => api.call('GET', `${CMS}?limit=1&continue=${token}`);
  const namesOf = (reply: Reply): string[] =>
    reply.json.items.map((each: { metadata: { name: string } }) => each.metadata.name);

  test('a token with an old version is Expired even if memory has it, with a token for the newest state', async () => {
    const first = await page('');
    const token: string = first.json.metadata.continue;
    expect(namesOf(await page(token))).toEqual(['b']);
    await create('/api/v1/namespaces/default/serviceaccounts', 'unrelated');
    // A consistent read, so that the cache has seen it.
    await api.call('GET', CMS);
    const expired = await page(token);
    expect(expired.json).toMatchObject({ code: 410, reason: 'Expired' });
    const exact = `${CMS}?resourceVersionMatch=Exact&resourceVersion=${first.json.metadata.resourceVersion}`;
    expect(namesOf(await api.call('GET', exact))).toEqual(['a', 'b', 'c']);
    const next = await page(expired.json.metadata.continue);
    expect(namesOf(next)).toEqual(['b']);
    expect(Number(next.json.metadata.resourceVersion)).toBeGreaterThan(
      Number(first.json.metadata.resourceVersion),
    );
    const last = await page(next.json.metadata.continue);
    expect([namesOf(last), last.json.metadata]).toEqual([
      ['c'],
      { resourceVersion: next.json.metadata.resourceVersion },
    ]);
  });
});
