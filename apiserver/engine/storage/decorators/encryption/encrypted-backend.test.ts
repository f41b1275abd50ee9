import { status } from '@grpc/grpc-js';
import { patience } from '../../../../../shared/testing/eventually';
import type { Backend } from '../../backend';
import { StorageError, valueOf } from '../../backend';
import { FaultyMemoryBackend } from '../../testing/faulty-memory-backend';
import type { Encrypted } from './encrypt';
import { encrypt } from './encrypt';
import { parseEncryptionRules } from './encryption-rules';
import type { KmsPlugin } from './testing/kms-plugin';
import { startKmsPlugin } from './testing/kms-plugin';

const KEY = '/registry/core/secrets/default/a';
const PLAIN = Buffer.from('{"kind":"Secret"}');

const key = (name: string, byte = name): object => ({
  name,
  secret: Buffer.alloc(32, byte).toString('base64'),
});
const cbc = (...keys: object[]): object => ({ aescbc: { keys } });
const IDENTITY = { identity: {} };

let memory: FaultyMemoryBackend;
const opened: Backend[] = [];
const plugins: KmsPlugin[] = [];

beforeEach(() => {
  memory = new FaultyMemoryBackend();
});
afterEach(async () => {
  for (const backend of opened.splice(0)) await backend.close();
  for (const plugin of plugins.splice(0)) await plugin.stop();
});

function storeWith(...providers: object[]): Backend {
  return encryptedWith(...providers).backend;
}

function encryptedWith(...providers: object[]): Encrypted {
  const parsed = parseEncryptionRules({
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers }],
  });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const encrypted = encrypt(memory, parsed.rules, '/registry');
  opened.push(encrypted.backend);
  return encrypted;
}

async function servicePlugin(): Promise<KmsPlugin> {
  const started = await startKmsPlugin();
  plugins.push(started);
  return started;
}

async function inStore(): Promise<Buffer> {
  const { record } = await memory.get(KEY, patience());
  return record?.value ?? Buffer.alloc(0);
}

test('a value is written with the first key, and its prefix names it as in Kubernetes', async () => {
  await storeWith(cbc(key('one'), key('two')), IDENTITY).create(KEY, PLAIN, {}, patience());
  expect((await inStore()).toString('latin1')).toMatch(/^k8s:enc:aescbc:v1:one:/);
});

test('records of other resources and outside of the prefix are not encrypted', async () => {
  const store = storeWith(cbc(key('one')));
  for (const other of [
    '/registry/core/configmaps/default/a',
    '/registry/core/secretsb/default/a',
    '/x/core/secrets/a',
  ]) {
    await store.create(other, PLAIN, {}, patience());
    expect((await memory.get(other, patience())).record?.value).toEqual(PLAIN);
    expect((await store.get(other, patience())).record).toMatchObject({ value: PLAIN });
  }
});

test.each<readonly [string, readonly object[], readonly object[]]>([
  ['in the clear before', [IDENTITY], [cbc(key('one')), IDENTITY]],
  ['with a later key', [cbc(key('two'))], [cbc(key('one'), key('two'))]],
  ['by a later provider', [cbc(key('two'))], [cbc(key('one')), cbc(key('two'))]],
  ['with another key of the same name', [cbc(key('one', 'x'))], [cbc(key('one')), cbc(key('one', 'x'))]],
  ['encrypted, and is to be in the clear', [cbc(key('one'))], [IDENTITY, cbc(key('one'))]],
])('a value written %s is readable, and stale until it is written again', async (_how, before, after) => {
  await storeWith(...before).create(KEY, PLAIN, {}, patience());
  const store = storeWith(...after);
  const { record } = await store.get(KEY, patience());
  expect(record).toMatchObject({ value: PLAIN, stale: true });
  await store.update(KEY, PLAIN, { expected: record?.revision ?? 0 }, patience());
  const { record: again } = await store.get(KEY, patience());
  expect(again?.value).toEqual(PLAIN);
  expect(again?.stale).toBeUndefined();
});

test('a value in the clear, put into the store past the server, is unreadable unless the rules allow it', async () => {
  await memory.create(KEY, PLAIN, {}, patience());
  const { record } = await storeWith(cbc(key('one'))).get(KEY, patience());
  expect(() => record && valueOf(record)).toThrow('no key of the configuration fits');
  const { record: allowed } = await storeWith(cbc(key('one')), IDENTITY).get(KEY, patience());
  expect(allowed).toMatchObject({ value: PLAIN, stale: true });
});

test('a value that no key fits is unreadable in every answer, and does not affect other records', async () => {
  await storeWith(cbc(key('one'))).create(KEY, PLAIN, {}, patience());
  const store = storeWith(cbc(key('two')));
  await store.create(`${KEY}b`, PLAIN, {}, patience());
  const why = `${KEY} cannot be decrypted: no key of the configuration fits`;
  const { record } = await store.get(KEY, patience());
  expect(() => record && valueOf(record)).toThrow(new StorageError('corrupt', why));
  const { records } = await store.list('/registry/', {}, patience());
  expect(records).toMatchObject([{ unreadable: why }, { value: PLAIN }]);
  expect(await store.create(KEY, PLAIN, {}, patience())).toMatchObject({ current: { unreadable: why } });
  const watch = store.watch({ from: 1 }, patience())[Symbol.asyncIterator]();
  expect((await watch.next()).value.flatMap(({ events }: { events: object[] }) => events)).toMatchObject([
    { unreadable: why },
    { value: PLAIN },
  ]);
  await watch.return?.();
  expect(await store.delete(KEY, record?.revision ?? 0, patience())).toMatchObject({
    ok: true,
    deleted: { unreadable: why },
  });
});

describe('with a service', () => {
  test('a value with a cached data key is read without the service, another one by one call', async () => {
    const { endpoint, calls } = await servicePlugin();
    const provider = { kms: { name: 'test', endpoint, timeout: '10m', cachesize: 1 } };
    const store = storeWith(provider);
    await store.create(KEY, PLAIN, {}, patience());
    expect((await inStore()).toString('latin1')).toMatch(/^k8s:enc:kms:v1:test:/);
    await store.get(KEY, patience());
    expect(calls).toEqual({ Version: 1, Encrypt: 1, Decrypt: 0 });
    await store.create(`${KEY}b`, PLAIN, {}, patience());
    expect((await store.get(KEY, patience())).record?.value).toEqual(PLAIN);
    expect(calls).toEqual({ Version: 1, Encrypt: 2, Decrypt: 1 });
  });

  test('during an outage of the service nothing is written; reads and watches succeed afterwards', async () => {
    const service = await servicePlugin();
    const provider = { kms: { name: 'test', endpoint: service.endpoint, timeout: '10m', cachesize: -1 } };
    const store = storeWith(provider);
    await store.create(KEY, PLAIN, {}, patience());
    service.outage = status.INTERNAL;
    const refused = { code: 'unavailable' };
    await expect(store.create(`${KEY}b`, PLAIN, {}, patience())).rejects.toMatchObject(refused);
    await expect(store.get(KEY, patience())).rejects.toMatchObject(refused);
    await expect(store.watch({ from: 1 }, patience())[Symbol.asyncIterator]().next()).rejects.toMatchObject(
      refused,
    );
    service.outage = undefined;
    expect(memory.revision).toBe(1);
    const watch = store.watch({ from: 1 }, patience())[Symbol.asyncIterator]();
    expect((await watch.next()).value).toMatchObject([{ revision: 1, events: [{ value: PLAIN }] }]);
    await watch.return?.();
  });

  test('a call waits for a plugin that restarts, and reconnects', async () => {
    const first = await servicePlugin();
    const { path } = first;
    const provider = { kms: { name: 'test', endpoint: first.endpoint, timeout: '10m', cachesize: -1 } };
    const store = storeWith(provider);
    await store.create(KEY, PLAIN, {}, patience());
    await first.stop();
    const reading = store.get(KEY, patience());
    plugins.push(await startKmsPlugin({ path }));
    expect((await reading).record?.value).toEqual(PLAIN);
  });

  test('closing the store ends a call that waits for the plugin', async () => {
    const service = await servicePlugin();
    const store = storeWith({ kms: { name: 'test', endpoint: service.endpoint, timeout: '10m' } });
    await service.stop();
    const writing = store.create(KEY, PLAIN, {}, patience());
    await store.close();
    await expect(writing).rejects.toMatchObject({ code: 'closed' });
  });

  test('encryptions and decryptions are counted by result', async () => {
    const service = await servicePlugin();
    const provider = { kms: { name: 'test', endpoint: service.endpoint, cachesize: -1 } };
    const { backend: store, counts } = encryptedWith(provider);
    await store.create(KEY, PLAIN, {}, patience());
    await store.get(KEY, patience());
    service.outage = status.INTERNAL;
    await expect(store.create(`${KEY}b`, PLAIN, {}, patience())).rejects.toThrow('the key is unavailable');
    await expect(store.get(KEY, patience())).rejects.toThrow('the key is unavailable');
    service.outage = status.INVALID_ARGUMENT;
    await store.get(KEY, patience());
    expect([...counts.entries()].map((each) => Object.values(each).join(' '))).toEqual([
      'to_storage OK 1',
      'from_storage OK 1',
      'to_storage Unavailable 1',
      'from_storage Unavailable 1',
      'from_storage Unknown 1',
    ]);
  });

  test('a value that the service rejects is unreadable', async () => {
    const service = await servicePlugin();
    const store = storeWith({
      kms: { name: 'test', endpoint: service.endpoint, timeout: '10m', cachesize: -1 },
    });
    await store.create(KEY, PLAIN, {}, patience());
    service.outage = status.INVALID_ARGUMENT;
    const { record } = await store.get(KEY, patience());
    expect(record?.unreadable).toContain('the key is unavailable');
  });

  test('a service with another protocol version is not used', async () => {
    const service = await startKmsPlugin({ version: 'v2' });
    plugins.push(service);
    const store = storeWith({ kms: { name: 'test', endpoint: service.endpoint, timeout: '10m' } });
    await expect(store.create(KEY, PLAIN, {}, patience())).rejects.toThrow('only v1beta1 is supported');
    expect(service.calls.Encrypt).toBe(0);
  });
});
