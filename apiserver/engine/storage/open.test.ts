import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../../shared/concurrency/clock';
import { LightSignal } from '../../../shared/concurrency/light-signal';
import { silentLog } from '../../../shared/log/log';
import { openStore } from './open';

const COMMON = { prefix: '/registry', sizePollMs: 0, compactionIntervalMs: 0 };
const PARTS = { clock: systemClock, log: silentLog };

test('the embedded store answers as soon as it is open, and looks after its own history', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'open-'));
  const opened = await openStore({ backend: 'embedded', dir, isSynced: true, ...COMMON }, PARTS);
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

/** Folders of the stores and of the decorators that wrap any store, relative to this one. */
function foldersIn(folder: 'stores' | 'decorators'): readonly string[] {
  return readdirSync(path.join(__dirname, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`);
}

test('the suites that run servers over each store include every store that a flag can name', () => {
  const suites = readFileSync(path.join(__dirname, '../../testing/stores.ts'), 'utf8');
  const stores = foldersIn('stores');
  expect(stores).toEqual(expect.arrayContaining(['stores/embedded', 'stores/etcd']));
  expect(stores.filter((name) => !suites.includes(`/storage/${name}/`))).toEqual([]);
});

test('the contract suite runs on every store and decorator', () => {
  const filesOf = (folder: string): readonly string[] => readdirSync(path.join(__dirname, folder));
  expect(
    [...foldersIn('stores'), ...foldersIn('decorators')].filter(
      (name) => !filesOf(name).some((file) => file.endsWith('-backend.contract.test.ts')),
    ),
  ).toEqual([]);
});
