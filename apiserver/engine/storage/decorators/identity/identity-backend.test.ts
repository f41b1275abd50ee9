import { silentLog } from '../../../../../shared/log/log';
import { eventually, patience } from '../../../../../shared/testing/eventually';
import type { WriteOutcome } from '../../backend';
import { bytes, storageErrorOf } from '../../testing/suite';
import { FaultyMemoryBackend } from '../../testing/faulty-memory-backend';
import { WatchRecorder } from '../../testing/watch-recorder';
import { StoreIdentityBackend } from './identity-backend';
import { ReplaceableMemory } from './testing/replaceable-memory';

const KEY = '/registry/store-identity';
const OBJECT = '/registry/core/pods/a';

interface Replica {
  readonly store: ReplaceableMemory;
  readonly backend: StoreIdentityBackend;
}

function replicaOn(memory: FaultyMemoryBackend): Replica {
  const store = new ReplaceableMemory(memory);
  return { store, backend: new StoreIdentityBackend({ store, key: KEY, log: silentLog }) };
}

/** A copy of the newest state at the same revisions, as a restored snapshot is. */
async function copyOf(memory: FaultyMemoryBackend): Promise<FaultyMemoryBackend> {
  const copy = new FaultyMemoryBackend();
  const { records, revision } = await memory.list('/', {}, patience());
  for (let at = 1; at <= revision; at += 1) {
    const changes = records.filter((record) => record.revision === at);
    copy.transact(changes);
  }
  return copy;
}

function written(outcome: WriteOutcome): number {
  if (!outcome.ok) throw new Error(`refused; ${JSON.stringify(outcome.current)} is there`);
  return outcome.revision;
}

async function put(backend: StoreIdentityBackend, key = OBJECT): Promise<number> {
  return written(await backend.create(key, bytes(key), {}, patience()));
}

/** Resolves once the replica answers from what the store is now. */
async function settled({ backend }: Replica): Promise<number> {
  let revision = 0;
  await eventually('the store is identified again', async () => {
    revision = await backend.currentRevision(patience()).catch(() => 0);
    return revision > 0;
  });
  return revision;
}

/** A store with some history, an older copy of it, and replicas that know the newest state. */
async function replicasOnOlder(count: number): Promise<{
  readonly replicas: readonly Replica[];
  readonly older: FaultyMemoryBackend;
  readonly last: number;
}> {
  const memory = new FaultyMemoryBackend();
  const replicas = Array.from({ length: count }, () => replicaOn(memory));
  const [first] = replicas;
  if (first === undefined) throw new Error('there is no replica');
  await put(first.backend, '/registry/core/pods/old');
  const older = await copyOf(memory);
  const last = await put(first.backend);
  for (const { backend } of replicas) await backend.currentRevision(patience());
  return { replicas, older, last };
}

test('on a store that was never replaced, revisions are those of the store', async () => {
  const memory = new FaultyMemoryBackend();
  const { backend } = replicaOn(memory);
  expect(await put(backend)).toBe(memory.revision);
  expect(backend.replacements).toBe(0);
});

test.each([
  ['an empty', async (): Promise<FaultyMemoryBackend> => Promise.resolve(new FaultyMemoryBackend())],
  ['an older', copyOf],
])('a replacement by %s store returns no revision a second time', async (_which, replacement) => {
  const memory = new FaultyMemoryBackend();
  const replica = replicaOn(memory);
  await put(replica.backend, '/registry/core/pods/old');
  const next = await replacement(memory);
  const last = await put(replica.backend);
  replica.store.replace(next);
  const { records } = await eventuallyListed(replica);
  expect(records.every(({ revision }) => revision > last)).toBe(true);
  expect(await put(replica.backend, '/registry/core/pods/new')).toBeGreaterThan(last);
  expect(replica.backend.replacements).toBe(1);
});

async function eventuallyListed(replica: Replica): ReturnType<StoreIdentityBackend['list']> {
  await settled(replica);
  return replica.backend.list('/registry/core/', {}, patience());
}

test('a watch of the replaced store ends with reset, and cannot be resumed there', async () => {
  const { replicas, older, last } = await replicasOnOlder(1);
  const [replica] = replicas;
  if (replica === undefined) throw new Error('there is no replica');
  const whole = new WatchRecorder(replica.backend, { from: last });
  const below = new WatchRecorder(replica.backend, { from: last, prefix: '/registry/core/pods/' });
  await whole.reach(last);
  await below.reach(last);
  replica.store.replace(older);
  await settled(replica);
  await storageErrorOf(whole.ended(), 'reset');
  await storageErrorOf(below.ended(), 'reset');
  const again = replica.backend.watch({ from: last + 1 }, patience());
  const error = await storageErrorOf(again[Symbol.asyncIterator]().next(), 'compacted');
  expect(error.compactRevision).toBeGreaterThan(last);
});

test('revisions of the replaced store are compacted to lists and conflicts to writes, regardless of the new store revision', async () => {
  const { replicas, older, last } = await replicasOnOlder(1);
  const [replica] = replicas;
  if (replica === undefined) throw new Error('there is no replica');
  replica.store.replace(older);
  await settled(replica);
  const { backend } = replica;
  for (let more = 0; more <= last; more += 1) await put(backend, `/registry/core/pods/more-${String(more)}`);
  const now = await put(backend);
  await storageErrorOf(backend.list('/registry/', { revision: last }, patience()), 'compacted');
  const current = expect.objectContaining({ key: OBJECT, revision: now });
  const conflict = { ok: false, current, revision: expect.any(Number) };
  expect(await backend.update(OBJECT, bytes('x'), { expected: last }, patience())).toEqual(conflict);
  expect(await backend.delete(OBJECT, last, patience())).toEqual(conflict);
  const guards = [{ key: OBJECT, revision: last }];
  expect(await backend.update(OBJECT, bytes('x'), { expected: now, guards }, patience())).toEqual(conflict);
  const guarded = await backend.create('/registry/core/pods/b', bytes('x'), { guards }, patience());
  expect(guarded).toEqual({ ok: false, current: undefined, revision: expect.any(Number) });
});

test('replicas that detect it concurrently use the same offset', async () => {
  const { replicas, older } = await replicasOnOlder(3);
  for (const { store } of replicas) store.replace(older);
  await Promise.all(replicas.map(settled));
  const revisions = await Promise.all(
    replicas.map(async ({ backend }) => {
      const { record } = await backend.get('/registry/core/pods/old', patience());
      return record?.revision;
    }),
  );
  expect(new Set(revisions).size).toBe(1);
});

test('a replica that was paused until the new store passed the old revision still detects it', async () => {
  const { replicas, older, last } = await replicasOnOlder(2);
  const [awake, asleep] = replicas;
  if (awake === undefined || asleep === undefined) throw new Error('there are no replicas');
  const watch = new WatchRecorder(asleep.backend, { from: last });
  await watch.reach(last);
  awake.store.replace(older);
  await settled(awake);
  for (let more = 0; more <= last; more += 1)
    await put(awake.backend, `/registry/core/pods/more-${String(more)}`);
  asleep.store.replace(older);
  await storageErrorOf(watch.ended(), 'reset');
  expect(await settled(asleep)).toBe(await awake.backend.currentRevision(patience()));
  expect(asleep.backend.replacements).toBe(1);
});

test('a write of a paused replica does not reach the new store', async () => {
  const { replicas, older, last } = await replicasOnOlder(2);
  const [awake, asleep] = replicas;
  if (awake === undefined || asleep === undefined) throw new Error('there are no replicas');
  awake.store.replace(older);
  await settled(awake);
  while (older.revision < last) older.put('/registry/core/pods/more', bytes('more'));
  const byChance = older.put(OBJECT, bytes('another object'));
  asleep.store.replace(older);
  const update = asleep.backend.update(OBJECT, bytes('lost'), { expected: byChance }, patience());
  await storageErrorOf(update, 'unavailable');
  await settled(asleep);
  expect((await older.get(OBJECT, patience())).record?.value).toEqual(bytes('another object'));
});

test('a replica that saw newer revisions than the first one to detect it uses a larger offset', async () => {
  const { replicas, older } = await replicasOnOlder(1);
  const [replica] = replicas;
  if (replica === undefined) throw new Error('there is no replica');
  replica.store.replace(older);
  const first = await settled(replica);
  const foreign = new FaultyMemoryBackend();
  const other = replicaOn(foreign);
  await put(other.backend);
  replica.store.replace(foreign);
  expect(await settled(replica)).toBeGreaterThan(first);
  const watch = new WatchRecorder(other.backend, { from: 1 });
  await storageErrorOf(watch.ended(), 'reset');
  expect(await settled(other)).toBe(await settled(replica));
});
