import { FaultyMemoryBackend } from './testing/faulty-memory-backend';
import { measuredBackend, StoreTimes } from './measured-backend';

test('answers are counted by operation and resource, errors included, and foreign keys together', async () => {
  const times = new StoreTimes('/registry');
  const inner = new FaultyMemoryBackend();
  const backend = measuredBackend(inner, times);
  const { signal } = new AbortController();
  await backend.create('/registry/core/pods/default/a', Buffer.from('x'), {}, signal);
  await backend.get('/registry/core/pods/default/a', signal);
  await backend.list('/registry/apps/deployments/', {}, signal);
  await backend.get('/elsewhere/x', signal);
  inner.get = async () => Promise.reject(new Error('down'));
  await expect(backend.get('/registry/core/pods/default/a', signal)).rejects.toThrow('down');
  const counted = [...times.series()].map(({ labels: { operation, type }, took }) => [
    operation,
    type,
    took.count,
  ]);
  expect(counted).toEqual([
    ['create', 'pods', 1],
    ['get', 'pods', 2],
    ['list', 'deployments.apps', 1],
    ['get', 'other', 1],
  ]);
  await backend.close();
});
