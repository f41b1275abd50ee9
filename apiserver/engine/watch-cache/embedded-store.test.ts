import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../shared/log/log';
import { PATIENCE_MS } from '../../../shared/testing/eventually';
import type { Backend } from '../storage/backend';
import { openEmbeddedBackend } from '../storage/stores/embedded/embedded-backend';
import { createCache, FrameReader, podBytes, podKey, PODS, PREFIX, requestFor } from './testing/fixtures';

let directory: string;
let backend: Backend;
let controller: AbortController;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orch-watch-'));
  backend = await openEmbeddedBackend({ directory, prefix: PREFIX, log: silentLog });
  controller = new AbortController();
  setMaxListeners(0, controller.signal);
});
afterEach(async () => {
  controller.abort();
  await backend.close();
  await rm(directory, { recursive: true });
});

async function create(name: string): Promise<number> {
  const pod = { namespace: 'a', name };
  const outcome = await backend.create(podKey(pod), podBytes(pod), {}, controller.signal);
  return outcome.revision;
}

test('on a durable store a cache sees every acknowledged write at the read index', async () => {
  const cache = createCache(backend);
  await cache.start(controller.signal);
  const pods = cache.resource(PODS.keyPrefix);
  const frames = new FrameReader(pods.watch(requestFor({ from: cache.revision }), controller.signal)).take(
    100,
  );
  const names = Array.from({ length: 100 }, (_, at) => `p${String(at).padStart(3, '0')}`);
  const revisions = await Promise.all(
    names.map(async (name) => {
      const revision = await create(name);
      const index = await cache.readIndex(controller.signal);
      expect(index).toBeGreaterThanOrEqual(revision);
      expect(await cache.waitForRevision(index, { timeoutMs: PATIENCE_MS, signal: controller.signal })).toBe(
        true,
      );
      expect(pods.get(`a/${name}`)?.revision).toBe(revision);
      return revision;
    }),
  );
  const inOrder = names
    .map((name, at) => ({ name, revision: revisions[at] ?? 0 }))
    .sort((a, b) => a.revision - b.revision);
  expect(await frames).toEqual(inOrder.map(({ name, revision }) => `ADDED a/${name}@${revision}`));
  expect(cache.stats().readIndexCalls).toBeLessThan(100);
});

test('a cache opened on a store with history serves a watch from before its own start', async () => {
  const first = await create('p1');
  const second = await create('p2');
  const removal = await backend.delete(podKey({ namespace: 'a', name: 'p2' }), second, controller.signal);
  const cache = createCache(backend);
  await cache.start(controller.signal);
  const pods = cache.resource(PODS.keyPrefix);
  const reader = new FrameReader(pods.watch(requestFor({ from: first }), controller.signal));
  expect(await reader.take(2)).toEqual([`ADDED a/p2@${second}`, `DELETED a/p2@${removal.revision}`]);
  const next = reader.take(1);
  const third = await create('p3');
  expect(await next).toEqual([`ADDED a/p3@${third}`]);
});
