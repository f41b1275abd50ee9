import type { KnownObject } from './recent-objects';
import { RecentObjects } from './recent-objects';
import { caughtUp, createCache, podBytes, podKey, PODS } from './testing/fixtures';
import { MemoryBackend } from '../storage/testing/memory-backend';

const KEY = '/registry/core/pods/a/x';
const object = { kind: 'Pod' };
const plain = Buffer.from(JSON.stringify(object));

function known(bytes: number, revision = 1): KnownObject {
  return { object: { metadata: {} }, plain: Buffer.alloc(bytes), revision };
}

describe('objects that were written or read', () => {
  test('go when they were not used for the longest time', () => {
    const recent = new RecentObjects(100);
    recent.written('a', known(40), 1);
    recent.read('b', known(40));
    recent.get('a');
    recent.written('c', known(40), 1);
    expect(['a', 'b', 'c'].filter((key) => recent.get(key) !== undefined)).toEqual(['a', 'c']);
  });

  test('are replaced by newer forms, which frees what the older ones took', () => {
    const recent = new RecentObjects(100);
    for (let revision = 1; revision <= 10; revision += 1) recent.written('a', known(60, revision), 1);
    recent.written('b', known(40), 1);
    expect(recent.get('a')?.revision).toBe(10);
    expect(recent.get('b')).toBeDefined();
    recent.delete('a');
    recent.written('c', known(60), 1);
    expect(recent.get('b')).toBeDefined();
  });

  test('are not kept when they are too large for the whole budget, nor is an older form', () => {
    const recent = new RecentObjects(100);
    recent.written('a', known(50), 1);
    recent.written('a', known(101), 1);
    expect(recent.get('a')).toBeUndefined();
  });

  test('were not written since when they were only read, or written before', () => {
    const recent = new RecentObjects(100);
    recent.read('read', known(10));
    recent.written('written', known(10), 1_000);
    expect(recent.writtenSince('read', 0)).toBeUndefined();
    expect(recent.writtenSince('written', 1_000)).toBeDefined();
    expect(recent.writtenSince('written', 1_001)).toBeUndefined();
  });
});

describe('what bytes say', () => {
  test('is told once of what was announced', () => {
    const recent = new RecentObjects();
    recent.announce(KEY, { plain, object });
    expect(recent.saidBy(KEY, Buffer.from(plain))).toBe(object);
    expect(recent.saidBy(KEY, plain)).toBeUndefined();
  });

  test('is not told of other bytes or another key, and the announcement goes on waiting', () => {
    const recent = new RecentObjects();
    recent.announce(KEY, { plain, object });
    expect(recent.saidBy(KEY, Buffer.from('{"kind":"Pox"}'))).toBeUndefined();
    expect(recent.saidBy(`${KEY}y`, plain)).toBeUndefined();
    expect(recent.saidBy(KEY, plain)).toBe(object);
  });

  test('is told of the last announcement alone', () => {
    const recent = new RecentObjects();
    const later = { kind: 'Pod', count: 2 };
    recent.announce(KEY, { plain, object });
    recent.announce(KEY, { plain: Buffer.from(JSON.stringify(later)), object: later });
    expect(recent.saidBy(KEY, plain)).toBeUndefined();
    expect(recent.saidBy(KEY, Buffer.from(JSON.stringify(later)))).toBe(later);
  });

  test('is told of what was acknowledged before its event came, also while the next write is under way', () => {
    const recent = new RecentObjects();
    const acknowledged = { object: { metadata: { name: 'x' } }, plain, revision: 7 };
    recent.announce(KEY, { plain, object });
    recent.written(KEY, acknowledged, 1);
    recent.announce(KEY, { plain: Buffer.from('{"next":1}'), object: { next: 1 } });
    expect(recent.saidBy(KEY, Buffer.from(plain))).toBe(acknowledged.object);
    expect(recent.saidBy(KEY, Buffer.from('{"next":1}'))).toEqual({ next: 1 });
    expect(recent.get(KEY)).toBe(acknowledged);
  });
});

describe('an announcement', () => {
  test('leaves what the key holds known until the write is acknowledged', () => {
    const recent = new RecentObjects();
    recent.written(KEY, known(10, 1), 1_000);
    recent.announce(KEY, { plain, object });
    expect(recent.get(KEY)?.revision).toBe(1);
    expect(recent.writtenSince(KEY, 1_000)?.revision).toBe(1);
  });

  test('takes room of its own only until its write is acknowledged', () => {
    const recent = new RecentObjects(plain.length * 2);
    recent.announce('a', { plain, object });
    recent.written('a', { object: { metadata: {} }, plain, revision: 1 }, 1);
    recent.announce('b', { plain, object });
    expect(recent.get('a')).toBeDefined();
    expect(recent.saidBy('b', plain)).toBe(object);
  });

  test('that no event came for makes room, the longest announced first, and what is too large is not kept', () => {
    const recent = new RecentObjects(plain.length * 2);
    for (const key of ['a', 'b', 'c']) recent.announce(key, { plain, object });
    const large = Buffer.alloc(plain.length * 2 + 1);
    recent.announce('large', { plain: large, object });
    expect(['a', 'b', 'c'].map((key) => recent.saidBy(key, plain))).toEqual([undefined, object, object]);
    expect(recent.saidBy('large', large)).toBeUndefined();
  });
});

test('the cache takes an announced object for the event that has its bytes, and parses any other', async () => {
  const shutdown = new AbortController();
  const backend = new MemoryBackend();
  const cache = createCache(backend);
  await cache.start(shutdown.signal);
  const pod = { namespace: 'a', name: 'x', node: 'n1' };
  const marked = { metadata: { uid: 'known', labels: { marked: 'by the test' } }, spec: { nodeName: 'n2' } };
  cache.recent.announce(podKey(pod), { plain: podBytes(pod), object: marked });
  backend.put(podKey(pod), podBytes({ ...pod, node: 'n3' }));
  await caughtUp(cache, backend);
  const held = cache.resource(PODS.keyPrefix);
  expect(held.get('a/x')).toMatchObject({ uid: 'uid-a-x', fields: { 'spec.nodeName': 'n3' } });
  backend.put(podKey(pod), podBytes(pod));
  await caughtUp(cache, backend);
  expect(held.get('a/x')).toMatchObject({
    uid: 'known',
    labels: { marked: 'by the test' },
    fields: { 'spec.nodeName': 'n2' },
  });
  shutdown.abort();
});

test('an object that is known with its version makes the same entry as its bytes', async () => {
  const shutdown = new AbortController();
  const backend = new MemoryBackend();
  const cache = createCache(backend);
  await cache.start(shutdown.signal);
  const pod = { namespace: 'a', name: 'x', node: 'n1' };
  const stored = podBytes(pod);
  const parsed = JSON.parse(stored.toString()) as KnownObject['object'];
  const versioned = { ...parsed, metadata: { ...parsed.metadata, resourceVersion: '1' } };
  cache.recent.written(podKey(pod), { object: versioned, plain: stored, revision: 1 }, 1);
  backend.put(podKey(pod), stored);
  await caughtUp(cache, backend);
  const text = cache.resource(PODS.keyPrefix).get('a/x')?.bytes.toString();
  expect(text?.match(/resourceVersion/gu)).toHaveLength(1);
  expect(JSON.parse(`{${text ?? ''}`)).toMatchObject({
    metadata: { name: 'x', resourceVersion: String(backend.revision) },
  });
  shutdown.abort();
});
