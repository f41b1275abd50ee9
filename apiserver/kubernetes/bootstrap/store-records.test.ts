import { patience } from '../../../shared/testing/eventually';
import { dialect } from '../../../shared/names';
import type { Backend } from '../../engine/storage/backend';
import { MemoryBackend } from '../../engine/storage/stores/memory/memory-backend';
import { ApiLevelMismatch, checkRecords } from './store-records';

const PREFIX = '/registry/';
let backend: Backend;

beforeEach(() => {
  backend = new MemoryBackend();
});

const start = async (level: number, isChosen = false): Promise<void> =>
  checkRecords(backend, PREFIX, patience(), { level, isChosen });
const levelOf = async (): Promise<string | undefined> =>
  (await backend.get(`${PREFIX}.api-level`, patience())).record?.value.toString('utf8');

test('a new store gets the level of the server, and keeps it at starts without the flag', async () => {
  await start(36);
  expect(await levelOf()).toBe('1.36');
  await start(36);
  await expect(start(21)).rejects.toEqual(new ApiLevelMismatch(36));
  expect(await levelOf()).toBe('1.36');
});

test('the flag changes the level of a store', async () => {
  await start(36);
  await start(21, true);
  expect(await levelOf()).toBe('1.21');
  await expect(start(36)).rejects.toEqual(new ApiLevelMismatch(21));
});

test('a store without the record has the first level', async () => {
  await backend.create(`${PREFIX}.dialect`, Buffer.from(dialect), {}, patience());
  await expect(start(36)).rejects.toEqual(new ApiLevelMismatch(21));
  await start(21);
  expect(await levelOf()).toBe('1.21');
});

test('replicas that start at once on a new store have one level', async () => {
  await Promise.all([start(36), start(36), start(36)]);
  expect(await levelOf()).toBe('1.36');
});

test('a first start that was interrupted left the level and no dialect, never the reverse', async () => {
  const create = jest.spyOn(backend, 'create');
  await start(36);
  expect(create.mock.calls.map(([key]) => key)).toEqual([`${PREFIX}.api-level`, `${PREFIX}.dialect`]);
});
