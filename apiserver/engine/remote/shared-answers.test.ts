import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createSecretKey } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Redis } from 'ioredis';
import { openRedis } from '../../../shared/client/redis';
import { silentLog } from '../../../shared/log/log';
import { eventually, PATIENCE_MS } from '../../../shared/testing/eventually';
import { NO_USER } from '../request/initial-values';
import { webhookTokens } from '../authn/webhook/webhook-tokens';
import type { TokenReviewResult } from '../registry/operation';
import { webhookAccess } from '../authz/webhook/webhook-access';
import { redisAnswers } from './redis-answers';
import type { AnswerStore } from './shared-answers';
import { SharedAnswers } from './shared-answers';

const SECRET = 'a secret of all replicas, 32 bytes or more';
const TTL_MS = 600_000;
const TOKEN = 'token-of-jane';
const JANE: TokenReviewResult = {
  isKnown: true,
  user: { name: 'jane', uid: '42', groups: ['devs'], extra: { 'example.com/k': ['v'] } },
  audiences: ['api'],
};

let now: number;
let elapsed: number;
let asked: string[];
let shutdown: AbortController;

beforeEach(() => {
  [now, elapsed, asked, shutdown] = [1_000_000, 0, [], new AbortController()];
});

afterEach(() => {
  shutdown.abort();
});

/** A store in memory that anybody may change. */
function openStore() {
  const kept = new Map<string, Buffer>();
  let gets = 0;
  const store: AnswerStore = {
    get: async (name) => {
      gets += 1;
      return Promise.resolve(kept.get(name));
    },
    set: async (name, bytes) => {
      kept.set(name, bytes);
      return Promise.resolve();
    },
  };
  return { kept, store, gets: () => gets };
}

interface Given {
  readonly secret?: string;
  readonly lookMsMax?: number;
}

function answersOver(store: AnswerStore, { secret = SECRET, lookMsMax = PATIENCE_MS }: Given = {}) {
  return (purpose: string): SharedAnswers =>
    new SharedAnswers({
      store,
      secret: createSecretKey(Buffer.from(secret)),
      purpose,
      clock: { now: () => now },
      monotonic: { now: () => elapsed },
      lookMsMax,
    });
}

/** A replica whose service knows only jane. */
function replica(store: AnswerStore, given: Given = {}) {
  const remote = { clock: { now: () => now }, shutdownSignal: shutdown.signal, log: silentLog };
  const authenticate = webhookTokens({
    ...remote,
    answersOf: answersOver(store, given),
    ask: async ({ token }) => {
      asked.push(token);
      return Promise.resolve(token === TOKEN ? JANE : { isKnown: false, why: '' });
    },
    apiAudiences: ['api'],
    ttlMs: TTL_MS,
  });
  const { authorize } = webhookAccess({
    ...remote,
    answersOf: answersOver(store, given),
    ask: async ({ user }) => {
      asked.push(user.name);
      return Promise.resolve({ decision: user.name === 'jane' ? 'allow' : 'no-opinion', reason: 'r' });
    },
    authorizedTtlMs: TTL_MS,
    unauthorizedTtlMs: TTL_MS / 2,
  });
  return {
    whose: async (token: string) => authenticate({ token, audiences: ['api'] }, shutdown.signal),
    may: async (name: string) => authorize({ ...QUESTION, user: { ...NO_USER, name } }, shutdown.signal),
  };
}

const QUESTION = {
  isResourceRequest: true,
  verb: 'get',
  path: '',
  apiGroup: '',
  apiVersion: 'v1',
  namespace: 'a',
  resource: 'pods',
  subresource: '',
  name: 'p',
};

test('replicas reuse the answer of another one, allowed or denied, until it expires', async () => {
  const { store } = openStore();
  const [first, second] = [replica(store), replica(store)];
  const logged = [
    await first.whose(TOKEN),
    await first.whose('unknown'),
    await first.may('jane'),
    await first.may('joe'),
  ];
  expect(asked).toEqual([TOKEN, 'unknown', 'jane', 'joe']);
  now += TTL_MS / 2 - 1;
  const heard = [
    await second.whose(TOKEN),
    await second.whose('unknown'),
    await second.may('jane'),
    await second.may('joe'),
  ];
  expect(heard).toEqual(logged);
  expect(asked).toHaveLength(4);
  now += 1;
  await second.may('joe');
  expect(asked.slice(4)).toEqual(['joe']);
  // A later reader does not cache it for longer.
  now += TTL_MS / 2;
  await second.whose(TOKEN);
  expect(asked.slice(5)).toEqual([TOKEN]);
});

test('the store learns neither tokens nor users nor answers', async () => {
  const { store, kept } = openStore();
  const { whose, may } = replica(store);
  await whose(TOKEN);
  await may('jane');
  const seen = [...kept].map(([name, bytes]) => `${name} ${bytes.toString('latin1')}`).join(' ');
  expect(kept.size).toBe(2);
  for (const word of [TOKEN, 'jane', 'devs', 'allow', 'isKnown']) expect(seen).not.toContain(word);
});

test.each<readonly [what: string, change: (kept: Map<string, Buffer>, yes: Buffer) => void]>([
  ['a yes to another question', (kept, yes) => kept.forEach((_bytes, name) => kept.set(name, yes))],
  [
    'an unsealed allowed answer',
    (kept) => {
      const forged = Buffer.from(JSON.stringify({ result: JANE, atMs: now }));
      kept.forEach((_bytes, name) => kept.set(name, forged));
    },
  ],
  ['nothing', (kept) => kept.forEach((_bytes, name) => kept.set(name, Buffer.alloc(0)))],
  ['a megabyte', (kept) => kept.forEach((_bytes, name) => kept.set(name, Buffer.alloc(1_000_000)))],
  [
    'one bit that is turned',
    (kept) =>
      kept.forEach((bytes, name) => {
        const turned = Buffer.from(bytes);
        turned[turned.length - 1] = (turned.at(-1) ?? 0) ^ 1;
        kept.set(name, turned);
      }),
  ],
])('%s in the store grants nothing: the service is called', async (_what, change) => {
  const { store, kept } = openStore();
  await replica(store).whose(TOKEN);
  const [yes = Buffer.alloc(0)] = kept.values();
  kept.clear();
  const { whose } = replica(store);
  expect(await whose('made up')).toBeUndefined();
  change(kept, yes);
  asked.length = 0;
  expect(await replica(store).whose('made up')).toBeUndefined();
  expect(asked).toEqual(['made up']);
});

test('an old yes that is written again stands no longer than it did', async () => {
  const { store, kept } = openStore();
  await replica(store).whose(TOKEN);
  const old = new Map(kept);
  now += TTL_MS;
  for (const [name, bytes] of old) kept.set(name, bytes);
  await replica(store).whose(TOKEN);
  expect(asked).toEqual([TOKEN, TOKEN]);
});

test('replicas with another secret, and questions of another purpose, have nothing in common', async () => {
  const { store, kept } = openStore();
  await replica(store).whose(TOKEN);
  await replica(store, { secret: 'another one, which is also 32 bytes or more' }).whose(TOKEN);
  expect([asked.length, kept.size]).toEqual([2, 2]);
  answersOver(store)('tokens').share('q', 'yes', { isGood: true, ttlMs: 1 });
  expect(await answersOver(store)('access').find('q')).toBeUndefined();
  expect(await answersOver(store)('tokens').find('q')).toEqual({ result: 'yes', atMs: now });
});

test('a store that never answers is waited for by one request, and then left alone for a second', async () => {
  let gets = 0;
  const hanging: AnswerStore = {
    get: async () => {
      gets += 1;
      return new Promise(() => undefined);
    },
    set: async () => new Promise(() => undefined),
  };
  const { whose } = replica(hanging, { lookMsMax: 1 });
  expect(await whose(TOKEN)).toMatchObject({ user: { name: 'jane' } });
  await whose('a');
  await whose('b');
  expect([gets, asked]).toEqual([1, [TOKEN, 'a', 'b']]);
  elapsed += 1_000;
  await whose('c');
  expect(gets).toBe(2);
});

test('what a replica writes is bounded: large answers are left out, and made-up questions keep no good ones out', async () => {
  const { store, kept } = openStore();
  const answers = answersOver(store)('tokens');
  answers.share('large', 'x'.repeat(10_000), { isGood: true, ttlMs: TTL_MS });
  expect(kept.size).toBe(0);
  for (let at = 0; at < 2_000; at += 1) answers.share(String(at), 'no', { isGood: false, ttlMs: TTL_MS });
  expect(kept.size).toBe(500);
  answers.share('good', 'yes', { isGood: true, ttlMs: TTL_MS });
  expect(kept.size).toBe(501);
  elapsed += 1_000;
  for (let at = 0; at < 2_000; at += 1)
    answers.share(`later ${String(at)}`, 'no', { isGood: false, ttlMs: TTL_MS });
  expect(kept.size).toBe(551);
});

describe('in Redis', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'orch-shared-answers-'));
  const socket = path.join(dir, 'redis.sock');
  let server: ChildProcess;
  let redis: Redis;

  const start = (): void => {
    const args = ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', dir];
    server = spawn('redis-server', args, { stdio: 'ignore' });
  };

  beforeAll(async () => {
    start();
    redis = openRedis({ url: socket, caFile: undefined });
    await eventually('it is connected', async () => isThere());
  });

  afterAll(() => {
    redis.disconnect();
    server.kill('SIGKILL');
    rmSync(dir, { recursive: true });
  });

  async function isThere(): Promise<boolean> {
    return redis.ping().then(
      () => true,
      () => false,
    );
  }

  test('answers are kept for their time, and requests go on while it is paused, gone, and there again', async () => {
    const store = redisAnswers(redis, '/registry:webhooks:');
    await replica(store).whose(TOKEN);
    await eventually('it is written', async () => (await redis.dbsize()) === 1);
    const [name = ''] = await redis.keys('*');
    expect(name).toMatch(/^\/registry:webhooks:[\w-]{43}$/u);
    const leftMs = await redis.pttl(name);
    expect([leftMs > 0, leftMs > TTL_MS]).toEqual([true, false]);
    await replica(store).whose(TOKEN);
    expect(asked).toEqual([TOKEN]);

    server.kill('SIGSTOP');
    await replica(store, { lookMsMax: 5 }).whose(TOKEN);
    expect(asked).toEqual([TOKEN, TOKEN]);
    server.kill('SIGKILL');
    await eventually('it is gone', async () => !(await isThere()));
    await replica(store).whose(TOKEN);
    expect(asked).toHaveLength(3);
    start();
    await eventually('it is there again', isThere);
    await replica(store).whose(TOKEN);
    await eventually('it is written again', async () => (await redis.dbsize()) === 1);
    await replica(store).whose(TOKEN);
    expect(asked).toHaveLength(4);
  });
});
