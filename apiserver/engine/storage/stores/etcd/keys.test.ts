import { keysBelow, WHOLE_KEYSPACE } from './keys';

test('a prefix ends before the first key that does not begin with it', () => {
  expect(keysBelow('/a/')).toEqual({ key: Buffer.from('/a/'), rangeEnd: Buffer.from('/a0') });
  expect(keysBelow('')).toEqual(WHOLE_KEYSPACE);
});

test('a page begins after the given key, and never outside of the prefix', () => {
  expect(keysBelow('/b/', '/b/x').key).toEqual(Buffer.from('/b/x\0'));
  expect(keysBelow('/b/', '/a').key).toEqual(Buffer.from('/b/'));
});
