import { OwnWrites } from './own-writes';
import { caughtUp, createCache, podBytes, podKey, PODS } from '../testing/fixtures';
import { MemoryBackend } from '../../storage/testing/memory-backend';

const KEY = '/registry/core/pods/a/x';
const object = { kind: 'Pod' };
const plain = Buffer.from(JSON.stringify(object));

test('tells once what announced bytes say', () => {
  const writes = new OwnWrites();
  writes.announce(KEY, plain, object);
  expect(writes.take(KEY, Buffer.from(plain))).toBe(object);
  expect(writes.take(KEY, plain)).toBeUndefined();
});

test('tells nothing about other bytes or another key, and goes on waiting', () => {
  const writes = new OwnWrites();
  writes.announce(KEY, plain, object);
  expect(writes.take(KEY, Buffer.from('{"kind":"Pox"}'))).toBeUndefined();
  expect(writes.take(`${KEY}y`, plain)).toBeUndefined();
  expect(writes.take(KEY, plain)).toBe(object);
});

test('of two announcements of one key the last counts', () => {
  const writes = new OwnWrites();
  const later = { kind: 'Pod', count: 2 };
  writes.announce(KEY, plain, object);
  writes.announce(KEY, Buffer.from(JSON.stringify(later)), later);
  expect(writes.take(KEY, plain)).toBeUndefined();
  expect(writes.take(KEY, Buffer.from(JSON.stringify(later)))).toBe(later);
});

test('what no event came for makes room, the longest announced first, and what is too large is not kept', () => {
  const writes = new OwnWrites(plain.length * 2);
  for (const key of ['a', 'b', 'c']) writes.announce(key, plain, object);
  writes.announce('large', Buffer.alloc(plain.length * 2 + 1), object);
  expect(['a', 'b', 'c', 'large'].map((key) => writes.take(key, plain))).toEqual([
    undefined,
    object,
    object,
    undefined,
  ]);
});

test('the cache takes an announced object for the event that has its bytes, and parses any other', async () => {
  const life = new AbortController();
  const backend = new MemoryBackend();
  const cache = createCache(backend);
  await cache.start(life.signal);
  const pod = { namespace: 'a', name: 'x', node: 'n1' };
  const marked = { metadata: { uid: 'known', labels: { marked: 'by the test' } }, spec: { nodeName: 'n2' } };
  cache.announce(podKey(pod), { plain: podBytes(pod), object: marked });
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
  life.abort();
});
