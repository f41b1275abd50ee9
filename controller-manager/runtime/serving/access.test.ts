import { createClient } from '../../../shared/client/client';
import type { FakeApiServer } from '../../../shared/client/testing/fake-api-server';
import { createFakeApiServer } from '../../../shared/client/testing/fake-api-server';
import type { Client } from '../../../shared/client/client';
import { silentLog } from '../../../shared/log/log';
import { GROUP } from '../../../shared/names';
import type { RoleBench } from '../../testing/role-bench';
import { createRoleBench } from '../../testing/role-bench';
import { createAccess } from './access';

const REVIEWS = /tokenreviews|subjectaccessreviews/;

/** A real server with RBAC, queried as the user of the controller-manager. */
async function startBench(): Promise<{ readonly bench: RoleBench; readonly client: Client }> {
  const bench = await createRoleBench(undefined, {
    services: {
      reviewToken: async ({ token }) =>
        Promise.resolve(
          token === 'scraper'
            ? {
                isKnown: true,
                user: { name: 'scraper', uid: 'u', groups: ['watchers'], extra: {} },
                audiences: [],
              }
            : { isKnown: false, why: 'unknown' },
        ),
    },
  });
  const { client } = await new Promise<{ client: Client }>((resolve) => {
    bench.run(async ({ reader }) => Promise.resolve(resolve({ client: reader })), 'namespace-controller');
  });
  return { bench, client };
}

async function giveLeave(bench: RoleBench): Promise<void> {
  const api = `/apis/${GROUP.rbac}/v1`;
  const rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }];
  await bench.call('POST', `${api}/clusterroles`, { metadata: { name: 'scraping' }, rules });
  await bench.call('POST', `${api}/clusterrolebindings`, {
    metadata: { name: 'scraping' },
    roleRef: { apiGroup: GROUP.rbac, kind: 'ClusterRole', name: 'scraping' },
    subjects: [{ apiGroup: GROUP.rbac, kind: 'Group', name: 'watchers' }],
  });
}

describe('with a real server', () => {
  let bench: RoleBench;
  let client: Client;
  beforeEach(async () => {
    ({ bench, client } = await startBench());
  });
  afterEach(async () => bench.close());

  test('the token identifies the user, and roles of the API server decide', async () => {
    await giveLeave(bench);
    const access = createAccess({ client, alwaysAllowPaths: ['/healthz'], log: silentLog });
    const code = async (verb: string, path: string, token: string): Promise<number> =>
      (await access({ verb, path, token })).code;
    expect(await code('get', '/metrics', 'scraper')).toBe(200);
    expect(await code('post', '/metrics', 'scraper')).toBe(403);
    expect(await code('get', '/metric', 'scraper')).toBe(403);
    expect(await code('get', '/metrics', 'stolen')).toBe(401);
    expect(await code('get', '/healthz', 'stolen')).toBe(200);
    expect(await access({ verb: 'get', path: '/metrics', token: '' })).toEqual({
      code: 403,
      message: 'forbidden: User "system:anonymous" cannot get path "/metrics"',
    });
  });

  test('a decision is cached for ten seconds', async () => {
    let nowMs = 0;
    const access = createAccess({
      client,
      alwaysAllowPaths: [],
      log: silentLog,
      clock: { now: () => nowMs },
    });
    const ask = async (): Promise<number> =>
      (await access({ verb: 'get', path: '/metrics', token: 'scraper' })).code;
    expect(await ask()).toBe(403);
    await giveLeave(bench);
    nowMs = 9_999;
    const { length } = bench.writes;
    expect(await ask()).toBe(403);
    expect(bench.writes).toHaveLength(length);
    nowMs = 10_000;
    expect(await ask()).toBe(200);
  });
});

describe('with a server that does not answer', () => {
  let server: FakeApiServer;
  beforeEach(async () => {
    server = await createFakeApiServer();
  });
  afterEach(async () => server.close());

  test('access is refused except on always-allowed paths, and the next request asks again', async () => {
    server.fault = () => 'cut';
    const client = createClient({ server: server.url });
    const logged: object[] = [];
    const log = { ...silentLog, warn: (fields: object) => void logged.push(fields) };
    const access = createAccess({ client, alwaysAllowPaths: ['/health*'], log });
    for (let times = 1; times <= 2; times += 1) {
      const { code, message } = await access({ verb: 'get', path: '/metrics', token: 'x' });
      expect(code).toBe(500);
      expect(message).toBe('failed to check access with the API server');
      expect(logged).toHaveLength(times);
      expect(server.seen.filter(({ path }) => REVIEWS.test(path))).toHaveLength(times);
    }
    expect((await access({ verb: 'get', path: '/healthz', token: '' })).code).toBe(200);
  });

  test('of many concurrent requests only a limited number waits; the others are refused at once', async () => {
    server.fault = () => 'hang';
    const client = createClient({ server: server.url });
    const access = createAccess({ client, alwaysAllowPaths: [], log: silentLog });
    const ask = async (token: string): Promise<number> =>
      (await access({ verb: 'get', path: '/metrics', token })).code;
    const waiting = Array.from({ length: 64 }, async (_, index) => ask(String(index)));
    expect(await ask('one more')).toBe(503);
    server.fault = () => 'cut';
    server.cutConnections();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([500]));
    expect(await ask('one more')).toBe(500);
  });
});
