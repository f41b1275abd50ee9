import type { ApiObject } from '../../../shared/object/object';
import { StatusError, notFound } from '../../../shared/errors/status-error';
import { FaultyMemoryBackend } from '../storage/testing/faulty-memory-backend';
import { currentOfRecord } from './stored-form';
import type { Current, Intent, WriteTarget } from './write';
import { WRITE_ATTEMPTS_MAX, writeOptimistically } from './write';

const KEY = '/registry/core/configmaps/default/a';
const RESOURCE = { group: '', resource: 'configmaps' };
const SIGNAL = new AbortController().signal;

let backend: FaultyMemoryBackend;
/** What the cache shows; tests make it older than the store. */
let cached: Current | undefined;
let freshReads: number;

function encode(object: ApiObject): Buffer {
  const { resourceVersion: _version, ...metadata } = object.metadata;
  return Buffer.from(JSON.stringify({ ...object, metadata }));
}

function configMap(data: string): ApiObject {
  return { metadata: { name: 'a' }, data };
}

async function stored(): Promise<Current | undefined> {
  const { record } = await backend.get(KEY, SIGNAL);
  return record === undefined ? undefined : currentOfRecord({}, record);
}

function target(over: Partial<WriteTarget> = {}): WriteTarget {
  return {
    backend,
    key: KEY,
    ttlSeconds: undefined,
    dryRun: false,
    assumeAbsent: false,
    cached: () => cached,
    fresh: async () => {
      freshReads += 1;
      return stored();
    },
    catchUp: async () => undefined,
    decode: (record) => currentOfRecord({}, record),
    encode: (object) => ({ object, plain: encode(object) }),
    exhausted: () => new Error('exhausted'),
    ...over,
  };
}

async function put(data: string): Promise<void> {
  const now = await stored();
  const value = encode(configMap(data));
  if (now === undefined) await backend.create(KEY, value, {}, SIGNAL);
  else await backend.update(KEY, value, { expected: now.revision }, SIGNAL);
}

beforeEach(() => {
  backend = new FaultyMemoryBackend();
  cached = undefined;
  freshReads = 0;
});

const append =
  (text: string) =>
  async (current: Current | undefined): Promise<Intent> =>
    Promise.resolve({
      kind: 'put',
      object: { ...configMap(''), data: `${String(current?.object['data'])}${text}` },
    });

test('a write on an up-to-date cache is one transaction and no read', async () => {
  await put('1');
  cached = await stored();
  const written = await writeOptimistically(target(), append('2'), SIGNAL);
  expect(written).toMatchObject({ kind: 'updated', object: { data: '12' }, revision: 2 });
  expect(freshReads).toBe(0);
});

test('a write on a stale cache is retried on the current object', async () => {
  await put('1');
  cached = await stored();
  await put('2');
  const written = await writeOptimistically(target(), append('3'), SIGNAL);
  expect(written.object['data']).toBe('23');
  expect((await stored())?.object['data']).toBe('23');
  expect(freshReads).toBe(0);
});

test('a refusal on a stale cache is retried on a fresh object', async () => {
  await put('1');
  const refuseAbsent = async (current: Current | undefined): Promise<Intent> => {
    if (current === undefined) throw notFound(RESOURCE, 'a');
    return append('2')(current);
  };
  const written = await writeOptimistically(target(), refuseAbsent, SIGNAL);
  expect(written.object['data']).toBe('12');
});

test('a refusal on an up-to-date cache is final after one fresh read', async () => {
  const refuse = async (): Promise<Intent> => Promise.reject(notFound(RESOURCE, 'a'));
  await expect(writeOptimistically(target(), refuse, SIGNAL)).rejects.toThrow(StatusError);
  expect(freshReads).toBe(1);
});

test('a no-op on a stale cache is retried on a fresh object', async () => {
  await put('1');
  cached = await stored();
  await put('2');
  const setOne = async (): Promise<Intent> => Promise.resolve({ kind: 'put', object: configMap('1') });
  const written = await writeOptimistically(target(), setOne, SIGNAL);
  expect(written.kind).toBe('updated');
  expect((await stored())?.object['data']).toBe('1');
});

test('a no-op writes nothing and returns the current version', async () => {
  await put('1');
  cached = await stored();
  const setOne = async (): Promise<Intent> => Promise.resolve({ kind: 'put', object: configMap('1') });
  const written = await writeOptimistically(target(), setOne, SIGNAL);
  expect(written).toMatchObject({ kind: 'none', revision: 1 });
  expect(backend.revision).toBe(1);
});

test('an unchanged object whose stored form is stale is written all the same', async () => {
  await put('1');
  const now = await stored();
  cached = now === undefined ? undefined : { ...now, stale: true };
  const setOne = async (): Promise<Intent> => Promise.resolve({ kind: 'put', object: configMap('1') });
  expect((await writeOptimistically(target(), setOne, SIGNAL)).kind).toBe('updated');
});

test('a creation whose key exists gets the existing object', async () => {
  await put('1');
  const seen: (Current | undefined)[] = [];
  const create = async (current: Current | undefined): Promise<Intent> => {
    seen.push(current);
    if (current !== undefined) throw new StatusError('AlreadyExists', 'taken');
    return Promise.resolve({ kind: 'put', object: configMap('2') });
  };
  await expect(writeOptimistically(target({ assumeAbsent: true }), create, SIGNAL)).rejects.toThrow('taken');
  expect(seen.map((each) => each?.revision)).toEqual([undefined, 1]);
  expect(freshReads).toBe(0);
});

test('a dry run changes nothing and detects conflicts', async () => {
  await put('1');
  cached = await stored();
  await put('2');
  const written = await writeOptimistically(target({ dryRun: true }), append('3'), SIGNAL);
  expect(written.object['data']).toBe('23');
  expect((await stored())?.object['data']).toBe('2');
});

test('a request that loses every race fails', async () => {
  await put('0');
  cached = await stored();
  let attempts = 0;
  const lose = async (current: Current | undefined): Promise<Intent> => {
    attempts += 1;
    await put(`other ${String(attempts)}`);
    return append('!')(current);
  };
  await expect(writeOptimistically(target(), lose, SIGNAL)).rejects.toThrow('exhausted');
  expect(attempts).toBe(WRITE_ATTEMPTS_MAX);
});

test('a deletion removes exactly the object it decided on', async () => {
  await put('1');
  cached = await stored();
  await put('2');
  const seen: unknown[] = [];
  const remove = async (current: Current | undefined): Promise<Intent> => {
    seen.push(current?.object['data']);
    return Promise.resolve({ kind: 'delete', object: current?.object ?? configMap('') });
  };
  expect((await writeOptimistically(target(), remove, SIGNAL)).kind).toBe('deleted');
  expect(seen).toEqual(['1', '2']);
  expect(await stored()).toBeUndefined();
});

test('a creation whose guard changed is retried once the cache has the change', async () => {
  const guardKey = '/registry/core/namespaces/default';
  const known = backend.put(guardKey, Buffer.from('active'));
  const changed = backend.put(guardKey, Buffer.from('labelled'));
  let seen = known;
  const waitedFor: number[] = [];
  const over = {
    assumeAbsent: true,
    catchUp: async (revision: number): Promise<void> => {
      waitedFor.push(revision);
      seen = changed;
      return Promise.resolve();
    },
  };
  const create = async (): Promise<Intent> =>
    Promise.resolve({
      kind: 'put',
      object: configMap('1'),
      guards: [{ key: guardKey, revision: seen }],
    });
  const written = await writeOptimistically(target(over), create, SIGNAL);
  expect(written).toMatchObject({ kind: 'created', revision: changed + 1 });
  expect(waitedFor).toEqual([changed]);
});

test('a creation whose key exists does not wait for the cache', async () => {
  await put('1');
  const guardKey = '/registry/core/namespaces/default';
  const guard = { key: guardKey, revision: backend.put(guardKey, Buffer.from('active')) };
  backend.put(guardKey, Buffer.from('labelled'));
  const create = async (current: Current | undefined): Promise<Intent> => {
    if (current !== undefined) throw new StatusError('AlreadyExists', 'taken');
    return Promise.resolve({ kind: 'put', object: configMap('2'), guards: [guard] });
  };
  const catchUp = jest.fn();
  const over = { assumeAbsent: true, catchUp };
  await expect(writeOptimistically(target(over), create, SIGNAL)).rejects.toThrow('taken');
  expect(catchUp).not.toHaveBeenCalled();
});
