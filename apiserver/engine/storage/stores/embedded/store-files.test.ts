import fs from 'node:fs';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../../../shared/log/log';
import { eventually } from '../../../../../shared/testing/eventually';
import type { EmbeddedStore } from './embedded-backend';
import { openEmbeddedBackend } from './embedded-backend';

const { signal } = new AbortController();
let root: string;
let directory: string;
let store: EmbeddedStore;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'store-files-'));
  directory = join(root, 'data');
  store = await openEmbeddedBackend({ directory, prefix: '/registry', log: silentLog });
  expect(await write('before')).toMatchObject({ ok: true });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await store.close();
  rmSync(root, { recursive: true, force: true });
});

async function write(name: string): Promise<unknown> {
  return store.create(`/registry/${name}`, Buffer.from('x'), {}, signal);
}

const LOSSES: Readonly<Record<string, () => void>> = {
  'the directory is removed': () => rmSync(directory, { recursive: true }),
  'the directory is moved': () => renameSync(directory, `${directory}-old`),
  'another directory is in its place': () => {
    renameSync(directory, `${directory}-old`);
    mkdirSync(join(directory, 'records'), { recursive: true });
  },
  'a file is in its place': () => {
    renameSync(directory, `${directory}-old`);
    writeFileSync(directory, '');
  },
  'a link without a target is in its place': () => {
    renameSync(directory, `${directory}-old`);
    symlinkSync(directory, directory);
  },
  'the database is removed': () => rmSync(join(directory, 'records'), { recursive: true }),
  'the pointer to its manifest is removed': () => rmSync(join(directory, 'records', 'CURRENT')),
  'the acknowledged revision is removed': () => rmSync(join(directory, 'acknowledged')),
};

test.each(Object.keys(LOSSES))(
  'no write is acknowledged after %s, and the store reports its failure',
  async (name) => {
    LOSSES[name]?.();
    await expect(write('after')).rejects.toMatchObject({ code: 'unknown-outcome' });
    await expect(write('later')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.failed).rejects.toThrow(/stopped writing: .* were removed or replaced/u);
  },
);

test('a removed log of the database is found without a write', async () => {
  const records = join(directory, 'records');
  for (const file of readdirSync(records).filter((each) => each.endsWith('.log')))
    rmSync(join(records, file));
  await expect(store.failed).rejects.toThrow('removed or replaced while the store was open (its log)');
});

test('an error that says nothing about the files is logged once and does not end the store', async () => {
  const warn = jest.spyOn(silentLog, 'warn');
  const failing = (code: string) => (): never => {
    throw Object.assign(new Error(code), { code });
  };
  const readdir = jest.spyOn(fs, 'readdirSync').mockImplementation(failing('EMFILE'));
  await eventually('two polls fail', async () => readdir.mock.calls.length > 1);
  const stat = jest.spyOn(fs, 'statSync').mockImplementation(failing('EACCES'));
  expect(await write('while')).toMatchObject({ ok: true });
  expect(stat).toHaveBeenCalled();
  stat.mockRestore();
  readdir.mockRestore();
  expect(await write('after')).toMatchObject({ ok: true });
  expect(warn.mock.calls.map(([fields]) => fields)).toMatchObject([
    { error: { code: 'EMFILE' } },
    { error: { code: 'EACCES' } },
  ]);
  rmSync(directory, { recursive: true });
  await expect(store.failed).rejects.toThrow('were removed or replaced');
});
