import { setImmediate as nextTurn } from 'node:timers/promises';
import { FaultyMemoryBackend } from '../engine/storage/testing/faulty-memory-backend';
import type { InProcessApi } from './in-process-api';
import { startInProcessApi } from './in-process-api';

/** Far longer than a repair round that does not wait. */
const TURNS = 200;

let backend: FaultyMemoryBackend;
let api: InProcessApi;

beforeEach(async () => {
  backend = new FaultyMemoryBackend();
  api = await startInProcessApi(backend);
});
afterEach(async () => {
  await api.close();
});

test('an address stays allocated while the cache of Services is rebuilt', async () => {
  const body = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
  expect((await api.call('POST', '/api/v1/namespaces/default/services', { body })).code).toBe(201);
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  backend.beforeList = async (prefix) => (prefix.includes('/core/services/') ? released : undefined);
  api.plane.cache.rebuildResource('core/services/', 'a test');
  const repaired = api.plane.serviceAllocation.repair(new AbortController().signal);
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
  release();
  for (const { freed, suspected } of await repaired)
    expect({ freed, suspected }).toEqual({ freed: 0, suspected: 0 });
});

test('a repair round with a stale cache fails retryably, also at server start', async () => {
  await api.close();
  backend = new FaultyMemoryBackend();
  api = await startInProcessApi(backend, { cacheWaitMs: 1 });
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  backend.beforeList = async (prefix) => (prefix.includes('/core/services/') ? released : undefined);
  api.plane.cache.rebuildResource('core/services/', 'a test');
  const { signal } = new AbortController();
  const behind: unknown = await api.plane.serviceAllocation.repair(signal).catch((error: unknown) => error);
  release();
  expect(behind).toMatchObject({ status: { code: 504 } });
});
