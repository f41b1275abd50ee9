import { array, assert, constantFrom, property } from 'fast-check';
import { compareKeys, KeyOrder } from './key-order';

test('keys are ordered like their UTF-8 bytes', () => {
  const character = constantFrom(
    'a',
    '-',
    '/',
    'é',
    '\uD7FF',
    '\uE000',
    '\uFFFD',
    '\u{10000}',
    '\u{1F600}',
    '\u{10FFFF}',
  );
  const text = array(character, { maxLength: 4 }).map((characters) => characters.join(''));
  assert(
    property(text, text, (a, b) => {
      expect(Math.sign(compareKeys(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

test('a tree stays in order when the first wide key comes late', () => {
  const order = new KeyOrder();
  const tree = order.createTree<number>();
  for (const key of ['b', 'a\u00ff', 'a', '\u{1F600}', '\uFF5E', 'z']) {
    order.admit(key);
    tree.set(key, 1);
  }
  expect(tree.keysArray()).toEqual(['a', 'a\u00ff', 'b', 'z', '\uFF5E', '\u{1F600}']);
});
