import { PATIENCE_MS, patience } from '../../../shared/testing/eventually';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import type { Entry } from './state/entry';
import type { ResourceCache } from './resource-cache';
import { Slices } from '../../../shared/concurrency/slices';
import { CacheFollower } from './cache-follower';

const CMS = '/api/v1/namespaces/default/configmaps';
const PREFIX = 'core/configmaps/';

let api: InProcessApi;
let cache: ResourceCache;
let follower: CacheFollower;
/** The derived value: revisions by key. */
let seen: Map<string, number>;
let calls: string[];

beforeEach(async () => {
  api = await startInProcessApi();
  cache = api.plane.cache.resource(PREFIX);
  seen = new Map();
  calls = [];
  follower = new CacheFollower(cache, {
    reset: () => {
      calls.push('reset');
      seen.clear();
    },
    changed: (key: string, current: Entry | undefined) => {
      calls.push(key);
      if (current === undefined) seen.delete(key);
      else seen.set(key, current.revision);
    },
  });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await api.close();
});

async function write(name: string, data: object = {}): Promise<void> {
  const { code } = await api.call('POST', CMS, { body: { metadata: { name }, data } });
  expect(code).toBe(201);
  await caughtUp();
}

async function remove(name: string): Promise<void> {
  expect((await api.call('DELETE', `${CMS}/${name}`)).code).toBe(200);
  await caughtUp();
}

async function caughtUp(): Promise<void> {
  const signal = patience();
  const revision = await api.plane.cache.readIndex(signal);
  await api.plane.cache.waitForRevision(revision, { timeoutMs: PATIENCE_MS, signal });
}

function state(): Map<string, number> {
  return new Map(Array.from(cache.snapshot().entries(), ({ key, revision }) => [key, revision]));
}

test('the first catch-up replays all objects, later ones only changes', async () => {
  await write('a');
  await write('b');
  await follower.whenPrepared(patience());
  expect(calls).toEqual(['reset', 'default/a', 'default/b']);
  expect(follower.catchUp()).toBe(false);
  calls = [];
  await write('c');
  await remove('a');
  expect(follower.catchUp()).toBe(true);
  expect(calls).toEqual(['default/c', 'default/a']);
  expect(seen).toEqual(state());
  expect(seen.size).toBe(2);
});

test('a follower whose events were dropped from the ring buffer replays all objects', async () => {
  await write('a');
  expect(follower.catchUp()).toBe(true);
  await write('b');
  await remove('a');
  cache.ring.dropOldestRevision();
  cache.ring.dropOldestRevision();
  expect(follower.isPrepared).toBe(false);
  expect(follower.catchUp()).toBe(true);
  expect([...seen.keys()]).toEqual(['default/b']);
});

test('a refill resets the follower until the objects are loaded', async () => {
  await write('a');
  follower.catchUp();
  const isReady = jest.spyOn(cache, 'isReady', 'get').mockReturnValue(false);
  expect(follower.catchUp()).toBe(true);
  expect(seen.size).toBe(0);
  expect(follower.catchUp()).toBe(false);
  isReady.mockRestore();
  await follower.whenPrepared(patience());
  expect(seen).toEqual(state());
});

test('a new state after a refill replaces the old one', async () => {
  await write('a');
  follower.catchUp();
  api.plane.cache.rebuildResource(PREFIX, 'a test');
  await follower.whenPrepared(patience());
  expect(seen).toEqual(state());
  await write('b');
  follower.catchUp();
  expect(seen).toEqual(state());
});

test('changes during the first replay are not lost, and concurrent waiters share the replay', async () => {
  for (const name of ['a', 'b', 'c']) await write(name);
  jest.spyOn(Slices.prototype, 'due').mockReturnValue(true);
  const first = follower.whenPrepared(patience());
  const second = follower.whenPrepared(patience());
  await remove('c');
  await write('d');
  await Promise.all([first, second]);
  follower.catchUp();
  expect(seen).toEqual(state());
  expect(calls.filter((each) => each === 'reset')).toHaveLength(1);
});

test('a synchronous catch-up during a sliced replay supersedes it', async () => {
  for (const name of ['a', 'b', 'c']) await write(name);
  jest.spyOn(Slices.prototype, 'due').mockReturnValue(true);
  let goOn: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  jest.spyOn(Slices.prototype, 'pause').mockReturnValueOnce(held);
  const waiting = follower.whenPrepared(patience());
  while (!calls.includes('default/a')) await new Promise(setImmediate);
  expect(follower.isPrepared).toBe(false);
  follower.catchUp();
  expect(follower.isPrepared).toBe(true);
  await remove('c');
  follower.catchUp();
  goOn();
  await waiting;
  expect(seen).toEqual(state());
  expect([...seen.keys()]).toEqual(['default/a', 'default/b']);
});
