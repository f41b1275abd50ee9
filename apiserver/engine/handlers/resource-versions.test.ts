import { patience } from '../../../shared/testing/eventually';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { STORES, removeStores } from '../../testing/stores';

/** Every cell of the specification's tables of resource versions, as kube-apiserver answers it, over two stores. */

const CMS = '/api/v1/namespaces/default/configmaps';
const FUTURE = 999_999;
afterAll(removeStores);

describe.each(STORES)('over %s', (_name, open) => {
  let api: InProcessApi;
  /** Versions after the creation of a, b and c, and after the change of a. */
  let rv: { a: number; b: number; c: number; a2: number };
  beforeAll(async () => {
    api = await startInProcessApi(await open());
    const versionOf = (reply: Reply): number => {
      expect(reply.code).toBeLessThan(300);
      return Number(reply.json.metadata.resourceVersion);
    };
    const create = async (name: string): Promise<number> =>
      versionOf(await api.call('POST', CMS, { body: { metadata: { name, labels: { app: name } } } }));
    rv = { a: await create('a'), b: await create('b'), c: await create('c'), a2: 0 };
    rv.a2 = versionOf(await api.call('PATCH', `${CMS}/a`, { body: { data: { k: 'new' } } }));
    // Versions of the future are waited for; here in vain, so not for long.
    Object.assign(api.plane.store, { cacheWaitMs: 200 });
  });
  afterAll(async () => {
    await api.close();
  });

  const list = async (query: string): Promise<Reply> => api.call('GET', `${CMS}?${query}`);
  const names = (reply: Reply): string[] =>
    reply.json.items.map((each: { metadata: { name: string } }) => each.metadata.name);
  const version = (reply: Reply): number => Number(reply.json.metadata.resourceVersion);
  const expectNewest = (reply: Reply): void => {
    expect(reply.code).toBe(200);
    expect(names(reply)).toEqual(['a', 'b', 'c']);
    expect(version(reply)).toBeGreaterThanOrEqual(rv.a2);
    expect(reply.json.items[0].data).toEqual({ k: 'new' });
  };
  const expectInvalid = (reply: Reply, ...messages: string[]): void => {
    expect(reply.json).toMatchObject({
      code: 422,
      reason: 'Invalid',
      details: { kind: 'ListOptions', causes: messages.map((message) => ({ message })) },
    });
  };
  const expectTooLarge = (reply: Reply): void => {
    expect(reply.json).toMatchObject({
      code: 504,
      reason: 'Timeout',
      message: expect.stringMatching(/^Timeout: Too large resource version: \d+, current: \d+$/) as never,
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    });
  };
  const nextPage = async (query: string): Promise<string> => {
    const first = await list(query);
    return `continue=${first.json.metadata.continue}`;
  };

  describe('get', () => {
    test('without a version is the most recent state', async () => {
      const created = await api.call('POST', CMS, { body: { metadata: { name: 'fresh' } } });
      const reply = await api.call('GET', `${CMS}/fresh`);
      expect(version(reply)).toBe(version(created));
      await api.call('DELETE', `${CMS}/fresh`);
      expect((await api.call('GET', `${CMS}/fresh`)).code).toBe(404);
    });

    test('with version 0 is any state', async () => {
      expect((await api.call('GET', `${CMS}/a?resourceVersion=0`)).code).toBe(200);
    });

    test('with another version is a state not older than it', async () => {
      const reply = await api.call('GET', `${CMS}/a?resourceVersion=${rv.a}`);
      expect(version(reply)).toBe(rv.a2);
    });

    test('with a version of the future times out, too large', async () => {
      expectTooLarge(await api.call('GET', `${CMS}/a?resourceVersion=${FUTURE}`));
    });

    test('with what is no version is a bad request', async () => {
      for (const each of ['x', '-1', '1.5', '99999999999999999999']) {
        expect((await api.call('GET', `${CMS}/a?resourceVersion=${each}`)).code).toBe(400);
      }
    });
  });

  describe('list without resourceVersionMatch', () => {
    test('without limit and version is the most recent state', async () => {
      expectNewest(await list(''));
    });

    test('without limit, version 0, is any state', async () => {
      expectNewest(await list('resourceVersion=0'));
    });

    test('without limit, another version, is a state not older than it', async () => {
      expectNewest(await list(`resourceVersion=${rv.b}`));
    });

    test('without limit, a version of the future, times out, too large', async () => {
      expectTooLarge(await list(`resourceVersion=${FUTURE}`));
    });

    test('with limit and no version is a page of the most recent state', async () => {
      const reply = await list('limit=2');
      expect(names(reply)).toEqual(['a', 'b']);
      expect(version(reply)).toBeGreaterThanOrEqual(rv.a2);
      expect(reply.json.metadata.remainingItemCount).toBe(1);
    });

    test('with limit, version 0, is a page of any state', async () => {
      const reply = await list('limit=2&resourceVersion=0');
      expect(names(reply)).toEqual(['a', 'b']);
      expect(reply.json.metadata.continue).toEqual(expect.any(String));
    });

    test('with limit, another version, is a page of exactly that state', async () => {
      const reply = await list(`limit=1&resourceVersion=${rv.b}`);
      expect([names(reply), version(reply)]).toEqual([['a'], rv.b]);
      expect(reply.json.items[0].data).toBeUndefined();
      expect(reply.json.metadata.remainingItemCount).toBe(1);
    });

    test('with limit, a version of the future, times out, too large', async () => {
      expectTooLarge(await list(`limit=1&resourceVersion=${FUTURE}`));
    });

    test('with a continue token and no version goes on in the state of the first page', async () => {
      const token = await nextPage(`limit=1&resourceVersion=${rv.c}`);
      const reply = await list(`limit=1&${token}`);
      expect([names(reply), version(reply)]).toEqual([['b'], rv.c]);
      expect(reply.json.metadata.remainingItemCount).toBe(1);
    });

    test('with a continue token, version 0, goes on in the state of the first page', async () => {
      const reply = await list(`limit=1&resourceVersion=0&${await nextPage('limit=1')}`);
      expect(names(reply)).toEqual(['b']);
    });

    test('with a continue token and another version is a bad request', async () => {
      const reply = await list(`limit=1&resourceVersion=${rv.c}&${await nextPage('limit=1')}`);
      expect(reply.json).toMatchObject({
        code: 400,
        message: 'specifying resource version is not allowed when using continue',
      });
    });

    test('with a continue token and no limit is all the rest', async () => {
      const reply = await list(`limit=0&${await nextPage(`limit=1&resourceVersion=${rv.c}`)}`);
      expect([names(reply), version(reply)]).toEqual([['b', 'c'], rv.c]);
      expect(reply.json.metadata.continue).toBeUndefined();
    });
  });

  describe('list with resourceVersionMatch=Exact', () => {
    const match = 'resourceVersionMatch=Exact';
    const needsVersion = 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided';

    test.each(['', '&limit=1'])('and no version%s is invalid', async (limit) => {
      expectInvalid(await list(match + limit), needsVersion);
    });

    test.each(['', '&limit=1'])('and version 0%s is invalid', async (limit) => {
      expectInvalid(
        await list(`${match}&resourceVersion=0${limit}`),
        'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      );
    });

    test('and another version is exactly that state', async () => {
      const reply = await list(`${match}&resourceVersion=${rv.b}`);
      expect([names(reply), version(reply)]).toEqual([['a', 'b'], rv.b]);
    });

    test.each(['', '&limit=1'])('and a version of the future%s times out, too large', async (limit) => {
      expectTooLarge(await list(`resourceVersion=${FUTURE}&resourceVersionMatch=Exact${limit}`));
    });

    test('and another version, with limit, is a page of exactly that state', async () => {
      const reply = await list(`${match}&limit=1&resourceVersion=${rv.c}`);
      expect([names(reply), version(reply), reply.json.metadata.remainingItemCount]).toEqual([
        ['a'],
        rv.c,
        2,
      ]);
    });

    test('and a continue token is invalid', async () => {
      const token = await nextPage(`limit=1&resourceVersion=${rv.b}`);
      expectInvalid(
        await list(`${match}&${token}`),
        needsVersion,
        'Forbidden: resourceVersionMatch is forbidden when continue is provided',
      );
    });
  });

  describe('list with resourceVersionMatch=NotOlderThan', () => {
    const match = 'resourceVersionMatch=NotOlderThan';

    test.each(['', '&limit=1'])('and no version%s is invalid', async (limit) => {
      expectInvalid(
        await list(match + limit),
        'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
      );
    });

    test('and version 0 is any state', async () => {
      expectNewest(await list(`${match}&resourceVersion=0`));
    });

    test('and version 0, with limit, is a page of any state', async () => {
      expect(names(await list(`${match}&limit=2&resourceVersion=0`))).toEqual(['a', 'b']);
    });

    test('and another version is a state not older than it', async () => {
      expectNewest(await list(`${match}&resourceVersion=${rv.a}`));
    });

    test('and another version, with limit, is a page of a state not older than it', async () => {
      const reply = await list(`${match}&limit=2&resourceVersion=${rv.a}`);
      expect(names(reply)).toEqual(['a', 'b']);
      expect(version(reply)).toBeGreaterThanOrEqual(rv.a2);
    });

    test('and a version of the future times out, too large', async () => {
      expectTooLarge(await list(`${match}&resourceVersion=${FUTURE}`));
    });
  });

  test('a resourceVersionMatch that does not exist is invalid', async () => {
    const reply = await list(`resourceVersionMatch=Odd&resourceVersion=${rv.a}`);
    expect(reply.json).toMatchObject({
      code: 422,
      details: { causes: [{ reason: 'FieldValueNotSupported' }] },
    });
  });

  describe('watch', () => {
    const watched = async (query: string, count: number): Promise<string[]> => {
      const reader = api.watch(`${CMS}?watch=1&${query}`, patience());
      const seen: string[] = [];
      for await (const { type, object } of reader) {
        const { name = '', annotations } = object['metadata'] as { name?: string; annotations?: object };
        seen.push(`${type} ${annotations === undefined ? name : Object.values(annotations).join('')}`);
        if (seen.length === count) break;
      }
      return seen;
    };
    const STATE = ['ADDED a', 'ADDED b', 'ADDED c'];

    test('without a version begins with the most recent state', async () => {
      expect(await watched('', 3)).toEqual(STATE);
    });

    test('with version 0 begins with any state', async () => {
      expect(await watched('resourceVersion=0', 3)).toEqual(STATE);
    });

    test('with another version begins with the first change after it', async () => {
      expect(await watched(`resourceVersion=${rv.b}`, 2)).toEqual(['ADDED c', 'MODIFIED a']);
    });

    test('with a version of the future waits, and ends when its time is over', async () => {
      expect(await watched(`resourceVersion=${FUTURE}&timeoutSeconds=1`, 1)).toEqual([]);
    });

    test.each(['', 'resourceVersion=0'])(
      'that requests initial events (%s) gets a bookmark at their end',
      async (more) => {
        const query = `sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&${more}`;
        expect(await watched(query, 4)).toEqual([...STATE, 'BOOKMARK true']);
      },
    );

    test('that requests initial events not older than a version gets them all', async () => {
      const query = `sendInitialEvents=1&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1&resourceVersion=${rv.a}`;
      expect(await watched(query, 4)).toEqual([...STATE, 'BOOKMARK true']);
    });

    test('that requests initial events of a future version times out, too large', async () => {
      expectTooLarge(
        await list(`watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&resourceVersion=${FUTURE}`),
      );
    });

    test.each(['', '&resourceVersion=0'])(
      'without initial events%s begins with the next change',
      async (more) => {
        const query = `sendInitialEvents=false&resourceVersionMatch=NotOlderThan${more}&timeoutSeconds=1&allowWatchBookmarks=true`;
        expect(await watched(query, 1)).toEqual([]);
      },
    );

    test('with initial events requires NotOlderThan', async () => {
      expectInvalid(
        await list('watch=1&sendInitialEvents=true'),
        'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      );
    });

    test('of one name, by the deprecated path or by its field, is about that object alone', async () => {
      const reply = api.watch(`/api/v1/watch/namespaces/default/configmaps/b`, patience());
      expect((await reply.next()).value).toMatchObject({
        type: 'ADDED',
        object: { metadata: { name: 'b' } },
      });
      await reply.return(undefined);
      expect(await watched('fieldSelector=metadata.name%3Dc&timeoutSeconds=1', 2)).toEqual(['ADDED c']);
    });

    test('of one name with a field selector for another is a bad request', async () => {
      const url = '/api/v1/watch/namespaces/default/configmaps/b?fieldSelector=metadata.name%3Dc';
      expect((await api.call('GET', url)).json).toMatchObject({ code: 400 });
    });
  });

  describe('after a compaction of the store', () => {
    let token: string;
    let forgotten: number;
    beforeAll(async () => {
      token = await nextPage(`limit=1&resourceVersion=${rv.b}`);
      forgotten = rv.a;
    });

    test('an exact version that memory has is still available', async () => {
      const now = await api.backend.currentRevision(patience());
      await api.backend.compact(now, patience());
      const reply = await list(`resourceVersionMatch=Exact&resourceVersion=${rv.b}`);
      expect([names(reply), version(reply)]).toEqual([['a', 'b'], rv.b]);
    });

    test('an exact version that is compacted is Expired', async () => {
      api.plane.cache.rebuildResource('core/configmaps/', 'the test wants an empty history');
      await api.plane.cache.resource('core/configmaps/').whenReady(patience());
      const reply = await list(`resourceVersionMatch=Exact&resourceVersion=${forgotten}`);
      expect(reply.json).toMatchObject({ code: 410, reason: 'Expired' });
    });

    test('a continue token of such a version is Expired, with one for the newest state', async () => {
      const { json } = await list(`limit=1&${token}`);
      expect(json).toMatchObject({
        code: 410,
        reason: 'Expired',
        metadata: { continue: expect.any(String) },
      });
      const reply = await list(`limit=1&continue=${json.metadata.continue}`);
      expect(names(reply)).toEqual(['b']);
    });

    test('a watch from there gets an ERROR event', async () => {
      const reader = api.watch(`${CMS}?watch=1&resourceVersion=${forgotten}`, patience());
      expect((await reader.next()).value).toMatchObject({
        type: 'ERROR',
        object: { code: 410, reason: 'Expired' },
      });
      expect((await reader.next()).done).toBe(true);
    });
  });
});
