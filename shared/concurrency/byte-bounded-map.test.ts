import { ByteBoundedMap } from './byte-bounded-map';

function keysOf(map: ByteBoundedMap<string>): string[] {
  return ['a', 'b', 'c', 'd'].filter((key) => map.get(key) !== undefined);
}

test('the oldest make room, those that were touched or set again not yet', () => {
  const map = new ByteBoundedMap<string>(10);
  for (const key of ['a', 'b', 'c']) map.set(key, key, 3);
  map.touch('a');
  map.set('b', 'again', 3);
  map.set('d', 'd', 4);
  expect(keysOf(map)).toEqual(['a', 'b', 'd']);
  expect(map.get('b')).toBe('again');
});

test('what is deleted or replaced leaves its bytes to others', () => {
  const map = new ByteBoundedMap<string>(10);
  map.set('a', 'a', 9);
  map.set('a', 'a', 4);
  map.set('b', 'b', 6);
  map.delete('b');
  map.delete('b');
  map.set('c', 'c', 6);
  expect(keysOf(map)).toEqual(['a', 'c']);
});

test('what is larger than all of it is not kept, and replaces what stood there', () => {
  const map = new ByteBoundedMap<string>(10);
  map.set('a', 'a', 4);
  map.set('b', 'b', 4);
  map.set('a', 'large', 11);
  expect(keysOf(map)).toEqual(['b']);
});
