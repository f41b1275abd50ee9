import { FaultyMemoryBackend } from '../engine/storage/testing/faulty-memory-backend';
import { startInProcessApi } from '../testing/in-process-api';
import type { CheckedParts } from './health-checks';
import { checksOf } from './health-checks';

test('concurrent health checks share a single read of the store', async () => {
  const api = await startInProcessApi();
  const backend = new FaultyMemoryBackend();
  const asked = jest.spyOn(backend, 'currentRevision');
  const parts: Partial<CheckedParts> = {
    plane: api.plane,
    opened: { backend, names: { check: 'etcd' } } as unknown as CheckedParts['opened'],
    storeChecks: [],
    contentChecks: [],
  };
  const check = checksOf(parts as CheckedParts).find(({ name }) => name === 'etcd');
  const { signal } = new AbortController();
  const problems = await Promise.all(Array.from({ length: 5_000 }, async () => check?.check(signal)));
  expect(new Set(problems)).toEqual(new Set([undefined]));
  expect(asked).toHaveBeenCalledTimes(1);
  await api.close();
});
