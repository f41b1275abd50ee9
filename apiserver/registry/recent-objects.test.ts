import { RecentObjects } from './recent-objects';
import type { Current } from './write';

function current(bytes: number, revision = 1): Current {
  return { object: { metadata: {} }, plain: Buffer.alloc(bytes), revision, stale: false };
}

test('what was not used for the longest time goes first', () => {
  const recent = new RecentObjects(100);
  recent.set('a', current(40));
  recent.set('b', current(40));
  recent.get('a');
  recent.set('c', current(40));
  expect(['a', 'b', 'c'].filter((key) => recent.get(key) !== undefined)).toEqual(['a', 'c']);
});

test('a newer form replaces the older one, and frees what that took', () => {
  const recent = new RecentObjects(100);
  for (let revision = 1; revision <= 10; revision += 1) recent.set('a', current(60, revision));
  recent.set('b', current(40));
  expect(recent.get('a')?.revision).toBe(10);
  expect(recent.get('b')).toBeDefined();
  recent.delete('a');
  recent.set('c', current(60));
  expect(recent.get('b')).toBeDefined();
});

test('an object that is too large for the whole budget is not kept, nor an older form of it', () => {
  const recent = new RecentObjects(100);
  recent.set('a', current(50));
  recent.set('a', current(101));
  expect(recent.get('a')).toBeUndefined();
});

test('what was only read, or written too long ago, was not written since', () => {
  const recent = new RecentObjects(100);
  recent.set('read', current(10));
  recent.set('written', current(10), 1_000);
  expect(recent.writtenSince('read', 0)).toBeUndefined();
  expect(recent.writtenSince('written', 1_000)).toBeDefined();
  expect(recent.writtenSince('written', 1_001)).toBeUndefined();
});
