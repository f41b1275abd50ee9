import { createMissing } from '../bootstrap/create-missing';
import { DEFAULT_ADMISSION, createControlPlane } from '../../compose/control-plane';
import { accessControlOf } from '../../compose/authorization-modes';
import { systemClock } from '../../../shared/concurrency/clock';
import { silentLog } from '../../../shared/log/log';
import { FaultyMemoryBackend } from '../../engine/storage/testing/faulty-memory-backend';
import type { Reading } from './cluster-reader';
import { clusterReadings } from './cluster-reader';
import { PLUGIN_NAMES } from '../admission/plugins';
import { NAMESPACES, PODS, SERVICE_ACCOUNTS } from './resources';

const shutdown = new AbortController();
const { signal } = shutdown;
const backend = new FaultyMemoryBackend();
const plane = createControlPlane({
  backend,
  prefix: '/registry',
  clock: systemClock,
  log: silentLog,
  eventTtlSeconds: 3600,
  accessControl: (policies) => accessControlOf(['AlwaysAllow'], policies),
  admission: { ...DEFAULT_ADMISSION, disable: PLUGIN_NAMES },
});
const registry = plane.registry();
const newReading: () => Reading = clusterReadings(registry, plane.store);

async function write(namespace: string, name: string): Promise<void> {
  const endpoint = registry.endpoint('', 'v1', 'serviceaccounts');
  if (endpoint === undefined) throw new Error('not served');
  await createMissing(plane.store, endpoint, { metadata: { namespace, name } }, signal);
}

beforeAll(async () => {
  await plane.cache.start(signal);
  await write('a', 'first');
  await write('b', 'other');
  await newReading().freshen(signal);
});
afterAll(async () => {
  shutdown.abort(new Error('the test is over'));
  await backend.close();
});

test('objects are found by name, in their namespace, or as a list', () => {
  const reading = newReading();
  expect(reading.isStale()).toBe(false);
  expect(reading.get(SERVICE_ACCOUNTS, 'first', 'a')?.metadata).toMatchObject({
    namespace: 'a',
    name: 'first',
  });
  expect(reading.get(SERVICE_ACCOUNTS, 'first', 'b')).toBeUndefined();
  expect(reading.list(SERVICE_ACCOUNTS).map(({ metadata }) => metadata.name)).toEqual(['first', 'other']);
  expect(reading.list(SERVICE_ACCOUNTS, 'b').map(({ metadata }) => metadata.name)).toEqual(['other']);
  expect(reading.get(NAMESPACES, 'a')).toBeUndefined();
  expect(reading.isStale()).toBe(true);
});

test('an unchanged object is parsed once', () => {
  const look = () => newReading().get(SERVICE_ACCOUNTS, 'first', 'a');
  expect(look()).toBe(look());
});

test('after freshening, every acknowledged write is visible', async () => {
  const reading = newReading();
  await write('c', 'late');
  await reading.freshen(signal);
  expect(reading.get(SERVICE_ACCOUNTS, 'late', 'c')).toBeDefined();
  expect(reading.isStale()).toBe(false);
});

test('while a cache is refilled it proves nothing', async () => {
  const cache = plane.cache.resource('core/pods/');
  const isReady = jest.spyOn(cache, 'isReady', 'get').mockReturnValue(false);
  const reading = newReading();
  expect(() => reading.list(PODS)).toThrow('to be refilled');
  isReady.mockRestore();
  await reading.freshen(signal);
  expect(reading.list(PODS)).toEqual([]);
});

test('a resource that is not served has no objects', () => {
  expect(newReading().list({ group: 'example.com', resource: 'widgets' })).toEqual([]);
});
