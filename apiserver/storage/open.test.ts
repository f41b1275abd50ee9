import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../shared/concurrency/clock';
import { LightSignal } from '../../shared/concurrency/light-signal';
import { silentLog } from '../../shared/log/log';
import { openStore } from './open';

const COMMON = { prefix: '/registry', sizePollMs: 0, compactionIntervalMs: 0 };
const PARTS = { clock: systemClock, log: silentLog };

test('the embedded store answers as soon as it is open, and looks after its own history', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'open-'));
  const opened = await openStore({ backend: 'embedded', dir, ...COMMON }, PARTS);
  const signal = new LightSignal();
  await opened.connect(signal);
  await opened.keepCompact(signal);
  expect(opened.names).toEqual({ check: 'store', component: 'store' });
  expect(await opened.backend.currentRevision(signal)).toBeGreaterThan(0);
  await opened.backend.close();
  await rm(dir, { recursive: true });
});

test('etcd opens without being there, and is waited for until the caller gives up', async () => {
  const endpoints = ['http://127.0.0.1:1'];
  const opened = await openStore({ backend: 'etcd3', endpoints, ...COMMON }, PARTS);
  expect(opened.names).toEqual({ check: 'store', component: 'etcd-0' });
  const signal = new LightSignal();
  const connecting = opened.connect(signal);
  const reason = new Error('enough');
  signal.abort(reason);
  await expect(connecting).rejects.toBe(reason);
  await opened.backend.close();
});

/** No flag names these: they stand in front of any store, or are another thread's view of it. */
const AROUND_STORES: ReadonlySet<string> = new Set(['encryption', 'lineage', 'remote', 'testing']);

test('the suites that run servers over each store have every store that a flag can name', () => {
  const suites = readFileSync(path.join(__dirname, '../testing/stores.ts'), 'utf8');
  const folders = readdirSync(__dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const stores = folders.map(({ name }) => name).filter((name) => !AROUND_STORES.has(name));
  expect(stores).toEqual(expect.arrayContaining(['embedded', 'etcd']));
  expect(stores.filter((name) => !suites.includes(`/storage/${name}/`))).toEqual([]);
});

test('the contract suite runs on every store', () => {
  const folders = readdirSync(__dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const filesOf = (folder: string): readonly string[] => readdirSync(path.join(__dirname, folder));
  const stores = folders.map(({ name }) => name).filter((name) => name !== 'testing');
  expect(stores).toEqual(expect.arrayContaining(['embedded', 'etcd']));
  expect(
    stores.filter((name) => !filesOf(name).some((file) => file.endsWith('-backend.contract.test.ts'))),
  ).toEqual([]);
});
