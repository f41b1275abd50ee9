import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STORE_BACKUP_FILE } from '../../../../../shared/files/store-backup';
import { silentLog } from '../../../../../shared/log/log';
import { patience } from '../../../../../shared/testing/eventually';
import type { EmbeddedStore } from './embedded-backend';
import { openEmbeddedBackend } from './embedded-backend';

const KEYS = Array.from({ length: 100 }, (_, index) => `/registry/core/things/default/k${String(index)}`);
const opened: EmbeddedStore[] = [];
let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'backup-'));
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  rmSync(root, { recursive: true });
});

async function open(name: string, nowMs = Date.now()): Promise<EmbeddedStore> {
  const clock = { now: () => nowMs };
  const store = await openEmbeddedBackend({
    directory: join(root, name),
    prefix: '/registry',
    clock,
    log: silentLog,
  });
  opened.push(store);
  return store;
}

async function backedUp(store: EmbeddedStore): Promise<{ readonly size: number; readonly bytes: Buffer }> {
  const { bytes: size, pieces } = store.backup();
  const read: Buffer[] = [];
  for await (const piece of pieces) read.push(piece);
  return { size, bytes: Buffer.concat(read) };
}

function place(name: string, bytes: Buffer): string {
  mkdirSync(join(root, name));
  const file = join(root, name, STORE_BACKUP_FILE);
  writeFileSync(file, bytes);
  return file;
}

/** A store with records that were created, changed and deleted. */
async function filled(): Promise<EmbeddedStore> {
  const store = await open('first');
  for (const key of KEYS) {
    const made = await store.create(key, Buffer.from(key), {}, patience());
    await store.update(key, Buffer.from(`${key} again`), { expected: made.revision }, patience());
  }
  const { record } = await store.get(KEYS[0] ?? '', patience());
  await store.delete(KEYS[0] ?? '', record?.revision ?? 0, patience());
  return store;
}

test('a backup during writes is consistent, and its size is known in advance', async () => {
  const store = await filled();
  const { size, bytes } = await (async () => {
    const taking = backedUp(store);
    await store.create('/registry/core/things/default/later', Buffer.from('x'), {}, patience());
    return taking;
  })();
  expect(bytes).toHaveLength(size);
  const before = await store.list('/registry/core/things/default/k', {}, patience());
  const file = place('second', bytes);
  const restored = await open('second');
  expect((await restored.list('/registry/', {}, patience())).records).toEqual(before.records);
  expect(existsSync(file)).toBe(false);
});

test('a restored store begins above all that was given out, also by an earlier restore, and remembers no history', async () => {
  const store = await filled();
  const { bytes } = await backedUp(store);
  const nowMs = Date.now();
  place('second', bytes);
  const second = await open('second', nowMs);
  const { revision } = await second.create(
    '/registry/core/things/default/n',
    Buffer.from('x'),
    {},
    patience(),
  );
  expect(revision).toBeGreaterThan(await store.currentRevision(patience()));
  const old = second.watch({ from: (await store.currentRevision(patience())) + 1 }, patience());
  await expect(old[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'compacted' });
  place('third', bytes);
  const third = await open('third', nowMs + 1_000);
  expect(await third.currentRevision(patience())).toBeGreaterThan(revision);
  // The restored store can be reopened and written.
  await third.close();
  const again = await open('third');
  expect((await again.get(KEYS[1] ?? '', patience())).record?.value.toString()).toBe(
    `${String(KEYS[1])} again`,
  );
});

test('a backup that was cut or changed makes no store, and one beside records is left alone', async () => {
  const store = await filled();
  const { bytes } = await backedUp(store);
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(500) ^ 1, 500);
  for (const [name, bad] of [
    ['cut', bytes.subarray(0, -1_000)],
    ['changed', changed],
    ['empty', Buffer.alloc(0)],
  ] as const) {
    const file = place(name, bad);
    await expect(open(name)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining(file) as string,
    });
    expect(existsSync(join(root, name, 'records'))).toBe(false);
  }
  await store.close();
  const beside = join(root, 'first', STORE_BACKUP_FILE);
  writeFileSync(beside, bytes);
  const { record } = await (await open('first')).get(KEYS[0] ?? '', patience());
  expect(record).toBeUndefined();
  expect(readFileSync(beside)).toEqual(bytes);
});

test('a backup is taken when its first piece is read; an unread one holds no resources', async () => {
  const store = await filled();
  const { pieces } = store.backup();
  await store.create('/registry/core/things/default/k-late', Buffer.from('x'), {}, patience());
  const read: Buffer[] = [];
  for await (const piece of pieces) read.push(piece);
  place('second', Buffer.concat(read));
  const restored = await open('second');
  const prefix = '/registry/core/things/default/k';
  expect((await restored.list(prefix, {}, patience())).records).toEqual(
    (await store.list(prefix, {}, patience())).records,
  );
});
