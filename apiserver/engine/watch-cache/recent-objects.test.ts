import type { KnownObject } from './recent-objects';
import { RecentObjects } from './recent-objects';
import { caughtUp, createCache, podBytes, podKey, PODS } from './testing/fixtures';
import { FaultyMemoryBackend } from '../storage/testing/faulty-memory-backend';

const KEY = '/registry/core/pods/a/x';
const object = { kind: 'Pod' };
const plain = Buffer.from(JSON.stringify(object));

function known(bytes: number, revision = 1): KnownObject {
  return { object: { metadata: {} }, plain: Buffer.alloc(bytes), revision };
}

describe('recently written or read objects', () => {
  test('are evicted, least recently used first', () => {
    const recent = new RecentObjects(100);
    recent.written('a', known(40), 1);
    recent.read('b', known(40));
    recent.get('a');
    recent.written('c', known(40), 1);
    expect(['a', 'b', 'c'].filter((key) => recent.get(key) !== undefined)).toEqual(['a', 'c']);
  });

  test('are replaced by newer versions, which frees the bytes of the older ones', () => {
    const recent = new RecentObjects(100);
    for (let revision = 1; revision <= 10; revision += 1) recent.written('a', known(60, revision), 1);
    recent.written('b', known(40), 1);
    expect(recent.get('a')?.revision).toBe(10);
    expect(recent.get('b')).toBeDefined();
    recent.delete('a');
    recent.written('c', known(60), 1);
    expect(recent.get('b')).toBeDefined();
  });

  test('are not kept when they exceed the budget, nor is an older version', () => {
    const recent = new RecentObjects(100);
    recent.written('a', known(50), 1);
    recent.written('a', known(101), 1);
    expect(recent.get('a')).toBeUndefined();
  });

  test('do not count as written since a time when they were only read, or written earlier', () => {
    const recent = new RecentObjects(100);
    recent.read('read', known(10));
    recent.written('written', known(10), 1_000);
    expect(recent.writtenSince('read', 0)).toBeUndefined();
    expect(recent.writtenSince('written', 1_000)).toBeDefined();
    expect(recent.writtenSince('written', 1_001)).toBeUndefined();
  });
});

describe('the parsed form of bytes', () => {
  test('is found once for an announcement', () => {
    const recent = new RecentObjects();
    recent.announce(KEY, { plain, object });
    expect(recent.findParsed(KEY, Buffer.from(plain))).toBe(object);
    expect(recent.findParsed(KEY, plain)).toBeUndefined();
  });

  test('is not found for other bytes or another key, and the announcement stays', () => {
    const recent = new RecentObjects();
    recent.announce(KEY, { plain, object });
    expect(recent.findParsed(KEY, Buffer.from('{"kind":"Pox"}'))).toBeUndefined();
    expect(recent.findParsed(`${KEY}y`, plain)).toBeUndefined();
    expect(recent.findParsed(KEY, plain)).toBe(object);
  });

  test('is found for the last announcement only', () => {
    const recent = new RecentObjects();
    const later = { kind: 'Pod', count: 2 };
    recent.announce(KEY, { plain, object });
    recent.announce(KEY, { plain: Buffer.from(JSON.stringify(later)), object: later });
    expect(recent.findParsed(KEY, plain)).toBeUndefined();
    expect(recent.findParsed(KEY, Buffer.from(JSON.stringify(later)))).toBe(later);
  });

  test('is found for a write that was acknowledged before its event, also during the next write', () => {
    const recent = new RecentObjects();
    const acknowledged = { object: { metadata: { name: 'x' } }, plain, revision: 7 };
    recent.announce(KEY, { plain, object });
    recent.written(KEY, acknowledged, 1);
    recent.announce(KEY, { plain: Buffer.from('{"next":1}'), object: { next: 1 } });
    expect(recent.findParsed(KEY, Buffer.from(plain))).toBe(acknowledged.object);
    expect(recent.findParsed(KEY, Buffer.from('{"next":1}'))).toEqual({ next: 1 });
    expect(recent.get(KEY)).toBe(acknowledged);
  });
});

describe('an announcement', () => {
  test('keeps the current object of the key until the write is acknowledged', () => {
    const recent = new RecentObjects();
    recent.written(KEY, known(10, 1), 1_000);
    recent.announce(KEY, { plain, object });
    expect(recent.get(KEY)?.revision).toBe(1);
    expect(recent.writtenSince(KEY, 1_000)?.revision).toBe(1);
  });

  test('counts in the budget only until its write is acknowledged', () => {
    const recent = new RecentObjects(plain.length * 2);
    recent.announce('a', { plain, object });
    recent.written('a', { object: { metadata: {} }, plain, revision: 1 }, 1);
    recent.announce('b', { plain, object });
    expect(recent.get('a')).toBeDefined();
    expect(recent.findParsed('b', plain)).toBe(object);
  });

  test('without an event is evicted, the oldest first, and one that is too large is not kept', () => {
    const recent = new RecentObjects(plain.length * 2);
    for (const key of ['a', 'b', 'c']) recent.announce(key, { plain, object });
    const large = Buffer.alloc(plain.length * 2 + 1);
    recent.announce('large', { plain: large, object });
    expect(['a', 'b', 'c'].map((key) => recent.findParsed(key, plain))).toEqual([undefined, object, object]);
    expect(recent.findParsed('large', large)).toBeUndefined();
  });
});

test('the cache uses an announced object for the event with the same bytes, and parses other events', async () => {
  const shutdown = new AbortController();
  const backend = new FaultyMemoryBackend();
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

test('a known object with its resourceVersion makes the same entry as its bytes', async () => {
  const shutdown = new AbortController();
  const backend = new FaultyMemoryBackend();
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
