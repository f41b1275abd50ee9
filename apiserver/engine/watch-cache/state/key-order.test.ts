import { KeyOrder } from './key-order';

test('a tree stays in order when the first wide key comes late', () => {
  const order = new KeyOrder();
  const tree = order.createTree<number>();
  for (const key of ['b', 'a\u00ff', 'a', '\u{1F600}', '\uFF5E', 'z']) {
    order.admit(key);
    tree.set(key, 1);
  }
  expect(tree.keysArray()).toEqual(['a', 'a\u00ff', 'b', 'z', '\uFF5E', '\u{1F600}']);
});
