import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../shared/testing/eventually';
import { startLinks } from './support/links';
import type { LocalRedis } from './support/redis';
import { startRedis } from './support/redis';
import { suiteHaSet } from './support/suite';
import { makeWorkspace } from './support/workspace';

/**
 * Replicas share limits and cached webhook responses over one Redis, which becomes slow, silent, is paused and killed. All requests are served
 * without it.
 */
const workspace = makeWorkspace('shared-redis');
const links = startLinks();
const LINK = 'replicas > redis';
/** Longer than every timeout for Redis. */
const SLOW_MS = 3_600_000;
const ROUNDS = 40;
let redis: LocalRedis;
let asked: string[] = [];

/** A token webhook that accepts every token as the name of its user. */
const webhook = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  request.on('end', () => {
    const { apiVersion, kind, spec } = JSON.parse(text) as {
      apiVersion: string;
      kind: string;
      spec: { token: string };
    };
    asked.push(spec.token);
    const status = { authenticated: true, user: { username: spec.token, groups: ['devs'] } };
    response.writeHead(200).end(JSON.stringify({ apiVersion, kind, status }));
  });
});
const extraArgs: string[] = [];

beforeAll(async () => {
  redis = await startRedis(workspace.dir);
  webhook.listen({ host: '127.0.0.1', port: 0 });
  await once(webhook, 'listening');
  const { port } = webhook.address() as AddressInfo;
  const configFile = path.join(workspace.dir, 'webhook.json');
  const keyFile = path.join(workspace.dir, 'key');
  writeFileSync(
    configFile,
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${String(port)}` } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: '' } }],
      'current-context': 'x',
    }),
  );
  writeFileSync(keyFile, 'k'.repeat(32));
  const url = (await links.through('replicas', 'redis', redis.url)).replace(/^redis:\/*/u, 'redis://');
  extraArgs.push(
    `--shared-limits-redis=${url}`,
    `--shared-webhook-cache-redis=${url}`,
    `--shared-webhook-cache-key-file=${keyFile}`,
    `--authentication-token-webhook-config-file=${configFile}`,
  );
});

const set = suiteHaSet({
  replicas: 2,
  etcd: 1,
  balancer: false,
  controllerManagers: 0,
  dialect: 'kubernetes',
  extraArgs,
});

afterAll(async () => {
  await redis.stop();
  links.stop();
  webhook.closeAllConnections();
  webhook.close();
  workspace.remove();
});

let users = 0;

/** Sends each request as a new user; returns the status codes, which are 403 for users without rights. */
async function askAll(): Promise<ReadonlySet<number>> {
  const codes = new Set<number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const token = `user-${String((users += 1))}`;
    const pods = '/api/v1/namespaces/default/pods';
    const { status } = await set
      .of(round % 2)
      .request({ path: pods, headers: { authorization: `Bearer ${token}` } });
    codes.add(status);
  }
  return codes;
}

/** The seats of a priority level at each replica. */
async function seats(): Promise<readonly number[]> {
  const limit =
    /^apiserver_flowcontrol_request_concurrency_limit\{priority_level="global-default"\} (\d+)$/mu;
  return Promise.all(
    [0, 1].map(async (at) => Number(limit.exec((await set.of(at).get('/metrics')).text)?.[1])),
  );
}

async function divide(): Promise<void> {
  await eventually('the seats are shared', async () => {
    const [first = 0, second = 0] = await seats();
    // Each share is rounded up.
    return first < WHOLE && second < WHOLE && first + second <= WHOLE + 1;
  });
}

/** 600 seats, 20 of 205 shares. */
const WHOLE = 59;

test('replicas share the seats, and call a webhook once for all of them', async () => {
  await divide();
  const ask = async (at: number, token: string): Promise<number> => {
    const answer = await set
      .of(at)
      .request({ path: '/version', headers: { authorization: `Bearer ${token}` } });
    return answer.status;
  };
  let count = 0;
  // A replica calls the webhook itself if Redis does not respond within 5 ms, so that the test retries with further users.
  await eventually('the second replica uses the cached response of the first', async () => {
    const token = `shared-${String((count += 1))}`;
    asked = [];
    await ask(0, token);
    return (await ask(1, token)) === 200 && asked.length === 1;
  });
  expect(count).toBeGreaterThan(0);
});

test.each<readonly [what: string, begin: () => Promise<void>, end: () => Promise<void>]>([
  [
    'slow',
    async () => links.set(LINK, { kind: 'slow', delayMs: SLOW_MS }),
    async () => links.set(LINK, { kind: 'cut' }),
  ],
  ['silent', async () => links.set(LINK, { kind: 'silent' }), async () => links.set(LINK, { kind: 'cut' })],
  [
    'paused',
    async () => Promise.resolve(redis.process().signal('SIGSTOP')),
    async () => Promise.resolve(redis.process().signal('SIGCONT')),
  ],
  [
    'killed',
    async () => {
      redis.process().signal('SIGKILL');
      await redis.process().exited;
    },
    async () => redis.restart(),
  ],
])('while Redis is %s, requests are answered, and seats stay divided', async (_what, begin, end) => {
  await begin();
  asked = [];
  expect([...(await askAll())]).toEqual([403]);
  expect(asked).toHaveLength(ROUNDS);
  // The last known share remains in effect.
  expect(Math.max(...(await seats()))).toBeLessThan(WHOLE);
  await end();
  await links.set(LINK, { kind: 'whole' });
  await divide();
});
